// Memory that the threads of one process share: counts of limits, bytes in flight, requests held open, and the number of commits.
import { allocateCounters } from './memory-counters.ts';
import { allocateSums } from './memory-sums.ts';

/** Memory that threads share; each thread receives the same buffers. */
export interface SharedMemory {
  counts: ArrayBufferLike;
  /** For the bytes of request bodies and of responses in flight. */
  bodies: ArrayBufferLike;
  answers: ArrayBufferLike;
  /** For the number of requests that are held open. */
  held: ArrayBufferLike;
  commits: SharedArrayBuffer;
}

/** Memory for the threads of one process. */
export function createSharedMemory(): SharedMemory {
  return {
    counts: allocateCounters(true),
    bodies: allocateSums(true),
    answers: allocateSums(true),
    held: allocateSums(true),
    commits: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
  };
}

/** A number that changes after each commit, for every thread, before anyone learns of the commit. */
export class CommitCount {
  readonly #count: Int32Array;

  constructor({ commits }: SharedMemory) {
    this.#count = new Int32Array(commits);
  }

  get value(): number {
    return Atomics.load(this.#count, 0);
  }

  raise(): void {
    Atomics.add(this.#count, 0, 1);
  }
}
