// Sends new connections to the newer listeners on a port, so that the older can be closed without losing any.
import { ptr } from 'bun:ffi';
import { closeSync, openSync } from 'node:fs';
import { type Library, listeningSockets, networkSockets, openLibrary, SOL_SOCKET } from './kernel-sockets.ts';

// Linux: socket(7), include/uapi/asm-generic/socket.h, include/uapi/linux/filter.h.
const SO_ATTACH_REUSEPORT_CBPF = 51;
const SO_DETACH_REUSEPORT_BPF = 68;
const BPF_LOAD_WORD = 0x20;
const BPF_MODULO = 0x94;
const BPF_ADD = 0x04;
const BPF_RETURN = 0x16;
const BPF_RETURN_CONSTANT = 0x06;
const RANDOM_NUMBER = -0x1000 + 56;

export interface Steering {
  /**
   * Sends all connections to one of the newer listeners, that one whose place nobody takes before the last of the older
   * ones is closed; from then on the kernel shares them among all that are left.
   */
  narrow(): void;
  /** Has the kernel share them among all that are left, however many those are. */
  end(): void;
}

/** Whether connections can be steered here. */
export function canSteer(): boolean {
  return openLibrary() !== undefined;
}

/**
 * Opens listeners on a port on which others listen, no fewer than those, all with SO_REUSEPORT, and has every connection
 * from now on go to one of the new ones; those that the old ones have, in their queues too, stay with them.
 * @returns null elsewhere than on Linux, where the kernel goes on sharing among all of them
 */
export async function takeOver(
  { older, newer }: { older: number; newer: number },
  open: () => Promise<void>,
): Promise<Steering | null> {
  const library = openLibrary();
  const before = new Set(library && listeningSockets(library));
  await open();
  const socket = library && listeningSockets(library).find((one) => !before.has(one));
  if (library === undefined || socket === undefined) return null;
  // A program answers with a place among the listeners, which stand in order of age. Of those that are closed each gives
  // its place to the last one there is.
  const anyOfNewer = [
    [BPF_LOAD_WORD, RANDOM_NUMBER],
    [BPF_MODULO, newer],
    [BPF_ADD, older],
    [BPF_RETURN, 0],
  ] as const;
  if (!attach(library, socket, anyOfNewer)) return null;
  return {
    narrow: () => attach(library, socket, [[BPF_RETURN_CONSTANT, older]]),
    end: () => library.setsockopt(socket, SOL_SOCKET, SO_DETACH_REUSEPORT_BPF, ptr(new Int32Array(1)), 4),
  };
}

/**
 * Closes all that this process listens on, and leaves the connections that it has: the runtime would close those that are
 * idle, too.
 */
export function closeListening(): void {
  const library = openLibrary();
  if (library === undefined) return;
  const inert = openSync('/dev/null', 'r');
  // The runtime goes on holding the number, and closes it one day.
  for (const socket of listeningSockets(library)) library.dup2(inert, socket);
  closeSync(inert);
}

/** Gives a function that counts the connections of a network that this process has. */
export function connectionCounter(): () => number {
  const library = openLibrary();
  if (library === undefined) return () => 0;
  return () => networkSockets(library).length - listeningSockets(library).length;
}

const INSTRUCTION_BYTES = 8;

function attach(
  library: Library,
  socket: number,
  instructions: readonly (readonly [code: number, operand: number])[],
): boolean {
  const code = new DataView(new ArrayBuffer(instructions.length * INSTRUCTION_BYTES));
  for (const [index, [operation, operand]] of instructions.entries()) {
    code.setUint16(index * INSTRUCTION_BYTES, operation, true);
    code.setInt32(index * INSTRUCTION_BYTES + 4, operand, true);
  }
  const program = new DataView(new ArrayBuffer(16));
  program.setUint16(0, instructions.length, true);
  program.setBigUint64(8, BigInt(ptr(code)), true);
  const size = program.byteLength;
  return library.setsockopt(socket, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, ptr(program), size) === 0;
}
