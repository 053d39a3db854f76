// Sockets at system level, for what the runtime does not offer: those of this process, and those that others listen on.
import { ptr } from 'bun:ffi';
import { lookup } from 'node:dns/promises';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { systemLibrary } from '../../db/system-library.ts';

const OPEN_FILES = '/proc/self/fd';
// Linux: socket(2), socket(7), tcp(7), unix(7), include/uapi/asm-generic/socket.h.
export const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
const SO_ACCEPTCONN = 30;
const SO_DOMAIN = 39;
const INTERNET = new Set([2, 10]);
const IPPROTO_TCP = 6;
const TCP_NOTSENT_LOWAT = 25;
const AF_UNIX = 1;
const SOCK_STREAM = 1;
const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;
const UNIX_ADDRESS_BYTES = 110;
// proc(5).
const LISTENING_TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const LISTENING = '0A';
/** Bytes of a response that the system buffers: small responses fit entirely, large ones report their progress. */
const UNSENT_BYTES_MAX = 128 * 1024;

/** The system library's socket functions; undefined except on Linux. */
export function openSocketLibrary() {
  if (process.platform !== 'linux') return undefined;
  return systemLibrary({
    getsockopt: { args: ['int', 'int', 'int', 'ptr', 'ptr'], returns: 'int' },
    setsockopt: { args: ['int', 'int', 'int', 'ptr', 'u32'], returns: 'int' },
    dup2: { args: ['int', 'int'], returns: 'int' },
    socket: { args: ['int', 'int', 'int'], returns: 'int' },
    connect: { args: ['int', 'ptr', 'u32'], returns: 'int' },
    close: { args: ['int'], returns: 'int' },
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

/** The user whose process listens on a Unix socket; undefined if there is none, or the system does not say. */
export function listeningUser(path: string): number | undefined {
  const library = openSocketLibrary();
  if (library === undefined) return undefined;
  const socket = library.socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket < 0) return undefined;
  try {
    const address = Buffer.alloc(UNIX_ADDRESS_BYTES);
    address.writeUInt16LE(AF_UNIX, 0);
    address.write(path, 2);
    if (library.connect(socket, ptr(address), UNIX_ADDRESS_BYTES) !== 0) return undefined;
    // Process, user and group.
    const credentials = new Int32Array(3);
    const size = new Uint32Array([credentials.byteLength]);
    const isKnown = library.getsockopt(socket, SOL_SOCKET, SO_PEERCRED, ptr(credentials), ptr(size)) === 0;
    return isKnown ? credentials[1] : undefined;
  } finally {
    library.close(socket);
  }
}

/** The sockets of all processes that listen on a TCP address, each by its inode number. */
export async function listenersAt(host: string, port: number): Promise<string[]> {
  const addresses = new Set((await lookup(host, { all: true })).map(({ address }) => canonical(address)));
  return listenersOn(port).flatMap(({ address, socket }) => (addresses.has(address) ? socket : []));
}

/** Whether another process listens on an address and port where this one does; false if the system does not say. */
export function sharesPort(port: number): boolean {
  const own = socketsOf(process.pid) ?? new Set();
  const listeners = listenersOn(port);
  const addresses = new Set(listeners.flatMap(({ address, socket }) => (own.has(socket) ? address : [])));
  return listeners.some(({ address, socket }) => addresses.has(address) && !own.has(socket));
}

// Of all processes.
function listenersOn(port: number): { address: string; socket: string }[] {
  const rows = LISTENING_TABLES.filter(existsSync).flatMap((table) =>
    readFileSync(table, 'utf8').split('\n').slice(1),
  );
  return rows.flatMap((row) => {
    const [, local = '', , state, , , , , , socket = ''] = row.trim().split(/\s+/);
    const [address = '', portText] = local.split(':');
    return state === LISTENING && portText === portForm(port)
      ? [{ address: addressOf(address), socket }]
      : [];
  });
}

/** The sockets of a process, by inode number; null if the system does not say. */
export function socketsOf(pid: number): Set<string> | null {
  const folder = `/proc/${pid}/fd`;
  try {
    return new Set(readdirSync(folder).map((fd) => socketOf(`${folder}/${fd}`)));
  } catch {
    return null;
  }
}

function socketOf(link: string): string {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(link))?.[1] ?? '';
  } catch {
    // Closed in the meantime.
    return '';
  }
}

const portForm = (port: number) => port.toString(16).toUpperCase().padStart(4, '0');

// proc(5): hexadecimal, each 32-bit word in the byte order of the machine.
function addressOf(hex: string): string {
  const bytes = hex.match(/.{8}/g)?.flatMap((word) => [...Buffer.from(word, 'hex').reverse()]) ?? [];
  if (bytes.length === 4) return bytes.join('.');
  return canonical(Buffer.from(bytes).toString('hex').match(/.{4}/g)?.join(':') ?? '');
}

function canonical(address: string): string {
  return address.includes(':') ? new URL(`http://[${address}]`).hostname : address;
}
