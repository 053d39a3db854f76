// Connections that stay open until the process ends, because closing them would lose data in the log.
import { systemLibrary } from '../system-library.ts';
import type { Connection } from './connection.ts';

const abandoned = new Set<Connection>();

/**
 * Closing the last connection moves the log into the file and deletes it: after a failed fsync, or if another program wrote
 * to the file, that loses data in the log. Keeps this connection open, and ends the process without closing it.
 */
export function leaveOpen(connection: Connection): void {
  if (abandoned.size === 0) process.once('exit', endAtOnce);
  // Referenced, because the garbage collector would close it.
  abandoned.add(connection);
}

/** Whether a connection was abandoned. */
export function isLeftOpen(connection: Connection): boolean {
  return abandoned.has(connection);
}

// process.exit() would close it, because Bun then closes every database.
function endAtOnce(code: number): void {
  systemLibrary({ _exit: { args: ['int'], returns: 'void' } })?._exit(code);
  process.kill(process.pid, 'SIGKILL');
}
