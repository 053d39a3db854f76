// Notices that nobody reads stdout any more, before something has to be written.
import { ptr } from 'bun:ffi';
import { systemLibrary } from '../../db/system-library.ts';

const STDOUT = 1;
// struct pollfd: the descriptor in four bytes, two for events, two for what happened.
const ENTRY_BYTES = 8;
const HAPPENED_AT = 6;
const POLLERR = 8;

let poll: ((entries: ReturnType<typeof ptr>, count: bigint, timeoutMs: number) => number) | null | undefined;

/** Whether the reader of the pipe that is stdout has closed it; false where the system does not tell. */
export function readerHasLeft(): boolean {
  if (poll === undefined) {
    const library = systemLibrary({ poll: { args: ['ptr', 'u64', 'i32'], returns: 'i32' } });
    poll = library?.poll ?? null;
  }
  if (poll === null) return false;
  const entry = Buffer.alloc(ENTRY_BYTES);
  entry.writeInt32LE(STDOUT, 0);
  return poll(ptr(entry), 1n, 0) > 0 && (entry.readInt16LE(HAPPENED_AT) & POLLERR) !== 0;
}
