// Sends new connections to the newer listeners on a port, so that the older ones can be closed without losing any.
import { ptr } from 'bun:ffi';
import { closeSync, openSync } from 'node:fs';
import {
  listeningSockets,
  networkSockets,
  openSocketLibrary,
  SOL_SOCKET,
  type SocketLibrary,
} from './kernel-sockets.ts';

// Linux: socket(7), include/uapi/asm-generic/socket.h, include/uapi/linux/filter.h.
const SO_ATTACH_REUSEPORT_CBPF = 51;
const SO_DETACH_REUSEPORT_BPF = 68;
const BPF_LOAD_WORD = 0x20;
const BPF_MODULO = 0x94;
const BPF_ADD = 0x04;
const BPF_RETURN = 0x16;
const BPF_RETURN_CONSTANT = 0x06;
const RANDOM_NUMBER = -0x1000 + 56;

export interface ReuseportSteering {
  /**
   * Sends all connections to the one newer listener whose position stays the same until the last older one is closed; after
   * that the kernel shares them among all that are left.
   */
  narrow(): void;
  /** Lets the kernel share connections among all listeners that are left. */
  end(): void;
}

/** Whether connections can be steered on this system. */
export function canSteer(): boolean {
  return openSocketLibrary() !== undefined;
}

/**
 * Opens at least as many listeners as there already are on a port, all with SO_REUSEPORT, and sends every new connection
 * to one of the new ones; connections of the old ones, including queued ones, stay with them.
 * @returns null except on Linux, so that the kernel keeps sharing among all of them
 */
export async function steerToNewListeners(
  { older, newer }: { older: number; newer: number },
  open: () => Promise<void>,
): Promise<ReuseportSteering | null> {
  const library = openSocketLibrary();
  const before = new Set(library && listeningSockets(library));
  await open();
  const socket = library && listeningSockets(library).find((one) => !before.has(one));
  if (library === undefined || socket === undefined) return null;
  // The program returns a position in the list of listeners, which is in order of age. When one is closed, the last listener
  // takes its position.
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
 * Closes everything that this process listens on, but not its connections: the runtime would close idle ones as well.
 */
export function closeListening(): void {
  const library = openSocketLibrary();
  if (library === undefined) return;
  const inert = openSync('/dev/null', 'r');
  // The runtime keeps the descriptor and closes it later.
  for (const socket of listeningSockets(library)) library.dup2(inert, socket);
  closeSync(inert);
}

/** Returns a function that counts this process's TCP connections. */
export function connectionCounter(): () => number {
  const library = openSocketLibrary();
  if (library === undefined) return () => 0;
  return () => networkSockets(library).length - listeningSockets(library).length;
}

const INSTRUCTION_BYTES = 8;

function attach(
  library: SocketLibrary,
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
