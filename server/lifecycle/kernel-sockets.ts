// The sockets of this process at system level, for what the runtime does not offer.
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
/** Bytes of a response that the system buffers: small responses fit entirely, large ones report their progress. */
const UNSENT_BYTES_MAX = 128 * 1024;

/** The system library's socket functions; undefined except on Linux. */
export function openSocketLibrary() {
  if (process.platform !== 'linux') return undefined;
  return systemLibrary({
    getsockopt: { args: ['int', 'int', 'int', 'ptr', 'ptr'], returns: 'int' },
    setsockopt: { args: ['int', 'int', 'int', 'ptr', 'u32'], returns: 'int' },
    dup2: { args: ['int', 'int'], returns: 'int' },
  });
}

export type SocketLibrary = NonNullable<ReturnType<typeof openSocketLibrary>>;

/**
 * Limits how much of a response the system buffers for each new connection. Otherwise it buffers megabytes of the server's
 * memory, and a client that reads slowly looks like one that does not read at all.
 */
export function limitSendBuffers(): void {
  const library = openSocketLibrary();
  if (library === undefined) return;
  const value = ptr(new Int32Array([UNSENT_BYTES_MAX]));
  // Connections inherit it from the socket that accepts them.
  for (const socket of listeningSockets(library))
    library.setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, value, 4);
}

/** The TCP sockets that this process listens on. */
export function listeningSockets(library: SocketLibrary): number[] {
  return networkSockets(library).filter((fd) => option(library, fd, SO_ACCEPTCONN) === 1);
}

/** The TCP sockets of this process, including connections. */
export function networkSockets(library: SocketLibrary): number[] {
  if (!existsSync(OPEN_FILES)) return [];
  return readdirSync(OPEN_FILES)
    .map(Number)
    .filter((fd) => INTERNET.has(option(library, fd, SO_DOMAIN)));
}

// -1 if it is not a socket.
function option(library: SocketLibrary, fd: number, name: number): number {
  const value = new Int32Array(1);
  const size = new Uint32Array([value.byteLength]);
  return library.getsockopt(fd, SOL_SOCKET, name, ptr(value), ptr(size)) === 0 ? (value[0] ?? -1) : -1;
}
