// Notifies a service manager about the state of a server, as sd_notify(3) describes.

import { ptr } from 'bun:ffi';
import { systemLibrary } from '../../db/system-library.ts';

const AF_UNIX = 1;
const SOCK_DGRAM_CLOEXEC = 0o2000002;
const MSG_NOSIGNAL = 0x4000;

/** Announces this process as the main one, even if another still finishes its requests. */
export function tellMainProcess(): void {
  tellManager(`MAINPID=${process.pid}`);
}

/** Announces that the server is ready. */
export function tellReady(): void {
  tellManager(`READY=1\nMAINPID=${process.pid}`);
}

// A manager that does not listen is not a reason to stop.
function tellManager(text: string): void {
  const path = process.env.NOTIFY_SOCKET;
  if (!path || process.platform !== 'linux') return;
  const library = systemLibrary({
    socket: { args: ['int', 'int', 'int'], returns: 'int' },
    sendto: { args: ['int', 'ptr', 'usize', 'int', 'ptr', 'u32'], returns: 'i64' },
    close: { args: ['int'], returns: 'int' },
  });
  const socket = library?.socket(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0) ?? -1;
  if (library === undefined || socket < 0) return;
  // unix(7): a name that begins with @ is in the abstract namespace, whose names begin with NUL.
  const name = Buffer.from(path.replace(/^@/, '\0'));
  const address = Buffer.concat([new Uint8Array(new Uint16Array([AF_UNIX]).buffer), name]);
  const message = Buffer.from(text);
  library.sendto(socket, ptr(message), message.length, MSG_NOSIGNAL, ptr(address), address.length);
  library.close(socket);
}
