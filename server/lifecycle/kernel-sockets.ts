// The sockets of this process as the system has them, and what the runtime has no word for.
import { ptr } from 'bun:ffi';
import { existsSync, readdirSync } from 'node:fs';
import { systemLibrary } from '../../db/system-library.ts';

const OPEN_FILES = '/proc/self/fd';
// Linux: socket(7), tcp(7), include/uapi/asm-generic/socket.h.
export const SOL_SOCKET = 1;
const SO_ACCEPTCONN = 30;
const SO_DOMAIN = 39;
const INTERNET = new Set([2, 10]);
const IPPROTO_TCP = 6;
const TCP_NOTSENT_LOWAT = 25;
/** Bytes of an answer that wait with the system: small answers go there whole, and of large ones it is told as they go. */
const UNSENT_BYTES_MAX = 128 * 1024;

/** What the system's library does with sockets; undefined elsewhere than on Linux. */
export function openLibrary() {
  if (process.platform !== 'linux') return undefined;
  return systemLibrary({
    getsockopt: { args: ['int', 'int', 'int', 'ptr', 'ptr'], returns: 'int' },
    setsockopt: { args: ['int', 'int', 'int', 'ptr', 'u32'], returns: 'int' },
    dup2: { args: ['int', 'int'], returns: 'int' },
  });
}

export type Library = NonNullable<ReturnType<typeof openLibrary>>;

/**
 * Has the system take little of an answer before that can go on to its client, on connections that come from now on. Else it
 * takes megabytes, in memory that is the server's, and a client that takes them slowly looks like one that takes nothing.
 */
export function limitUnsent(): void {
  const library = openLibrary();
  if (library === undefined) return;
  const value = ptr(new Int32Array([UNSENT_BYTES_MAX]));
  // Connections have it of the socket that accepts them.
  for (const socket of listeningSockets(library))
    library.setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, value, 4);
}

/** Those that this process listens on, in a network. */
export function listeningSockets(library: Library): number[] {
  return networkSockets(library).filter((fd) => option(library, fd, SO_ACCEPTCONN) === 1);
}

/** Those of a network, connections among them. */
export function networkSockets(library: Library): number[] {
  if (!existsSync(OPEN_FILES)) return [];
  return readdirSync(OPEN_FILES)
    .map(Number)
    .filter((fd) => INTERNET.has(option(library, fd, SO_DOMAIN)));
}

// -1 for what is no socket.
function option(library: Library, fd: number, name: number): number {
  const value = new Int32Array(1);
  const size = new Uint32Array([value.byteLength]);
  return library.getsockopt(fd, SOL_SOCKET, name, ptr(value), ptr(size)) === 0 ? (value[0] ?? -1) : -1;
}
