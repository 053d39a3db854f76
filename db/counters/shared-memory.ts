// Memory that the threads of one process share: counts of limits, bytes in flight, and the number of commits.
import { countMemory } from './memory-counters.ts';
import { sumsMemory } from './memory-sums.ts';

/** Memory that threads share; each thread receives the same buffers. */
export interface CommonMemory {
  counts: ArrayBufferLike;
  /** For the bytes of request bodies and of responses in flight. */
  bodies: ArrayBufferLike;
  answers: ArrayBufferLike;
  commits: SharedArrayBuffer;
}

/** Memory for the threads of one process. */
export function commonMemory(): CommonMemory {
  return {
    counts: countMemory(true),
    bodies: sumsMemory(true),
    answers: sumsMemory(true),
    commits: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
  };
}

/** A number that changes after each commit, for every thread, before anyone learns of the commit. */
export class CommitCount {
  readonly #count: Int32Array;

  constructor({ commits }: CommonMemory) {
    this.#count = new Int32Array(commits);
  }

  get value(): number {
    return Atomics.load(this.#count, 0);
  }

  raise(): void {
    Atomics.add(this.#count, 0, 1);
  }
}
