// Connections that stay open until the process ends, because closing them would lose what the log still has.
import { systemLibrary } from '../system-library.ts';
import type { Connection } from './connection.ts';

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
  systemLibrary({ _exit: { args: ['int'], returns: 'void' } })?._exit(code);
  process.kill(process.pid, 'SIGKILL');
}
