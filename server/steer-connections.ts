// Sends new connections to the newer of two listeners on one port, so that the older can be closed without losing any.
import { dlopen, ptr } from 'bun:ffi';
import { existsSync, readdirSync } from 'node:fs';

const OPEN_FILES = '/proc/self/fd';
// Linux: socket(7), include/uapi/asm-generic/socket.h, include/uapi/linux/filter.h.
const SOL_SOCKET = 1;
const SO_ACCEPTCONN = 30;
const SO_ATTACH_REUSEPORT_CBPF = 51;
const BPF_RETURN_CONSTANT = 0x06;
const NEWER = 1;

function openLibrary() {
  if (process.platform !== 'linux') return undefined;
  try {
    return dlopen('libc.so.6', {
      getsockopt: { args: ['int', 'int', 'int', 'ptr', 'ptr'], returns: 'int' },
      setsockopt: { args: ['int', 'int', 'int', 'ptr', 'u32'], returns: 'int' },
    }).symbols;
  } catch {
    return undefined;
  }
}

type Library = NonNullable<ReturnType<typeof openLibrary>>;

/**
 * Opens a second listener on a port that one listens on already, both with SO_REUSEPORT, and has every connection from
 * now on go to the new one; those that the old one has, in its queue too, stay with it.
 * @returns the listener, and whether that worked: elsewhere than on Linux the kernel goes on sharing between the two
 */
export function takeOver<T>(listen: () => T): { listener: T; isSole: boolean } {
  const library = openLibrary();
  const before = new Set(library && listeningSockets(library));
  const listener = listen();
  const socket = library && listeningSockets(library).find((one) => !before.has(one));
  return { listener, isSole: library !== undefined && socket !== undefined && steer(library, socket) };
}

function listeningSockets(library: Library): number[] {
  if (!existsSync(OPEN_FILES)) return [];
  const isListening = new Int32Array(1);
  const size = new Uint32Array(1);
  return readdirSync(OPEN_FILES)
    .map(Number)
    .filter((fd) => {
      isListening[0] = 0;
      size[0] = isListening.byteLength;
      const found = library.getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, ptr(isListening), ptr(size));
      return found === 0 && isListening[0] === 1;
    });
}

// A program of one instruction, which answers with the place in the group of listeners; they stand in order of age.
function steer(library: Library, socket: number): boolean {
  const instruction = new DataView(new ArrayBuffer(8));
  instruction.setUint16(0, BPF_RETURN_CONSTANT, true);
  instruction.setUint32(4, NEWER, true);
  const program = new DataView(new ArrayBuffer(16));
  program.setUint16(0, 1, true);
  program.setBigUint64(8, BigInt(ptr(instruction)), true);
  const size = program.byteLength;
  return library.setsockopt(socket, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, ptr(program), size) === 0;
}
