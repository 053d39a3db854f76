// Connections that stay open until the process ends, because closing them would lose what the log still has.
import { dlopen } from 'bun:ffi';
import type { Connection } from './connection.ts';
import { LIBC } from './inode-lock.ts';

const abandoned = new Set<Connection>();

/**
 * The last connection to be closed moves the log into the file and deletes it: after a failed fsync, or into a file that
 * another program wrote, that loses what the log still has. This one is left open, and the process then ends without
 * closing it.
 */
export function abandon(connection: Connection): void {
  if (abandoned.size === 0) process.once('exit', endAtOnce);
  // What nobody holds is collected, and thereby closed.
  abandoned.add(connection);
}

/** Whether a connection was abandoned. */
export function isAbandoned(connection: Connection): boolean {
  return abandoned.has(connection);
}

// process.exit() would close it: Bun closes every database then.
function endAtOnce(code: number): void {
  try {
    dlopen(LIBC ?? '', { _exit: { args: ['int'], returns: 'void' } }).symbols._exit(code);
  } catch {
    process.kill(process.pid, 'SIGKILL');
  }
}
