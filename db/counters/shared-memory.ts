// What the threads of one process have in common of a database: the counts of limits, what is under way, and how often was committed.
import { countMemory } from './memory-counters.ts';
import { sumsMemory } from './memory-sums.ts';

/** Memory that threads share; it is handed to each as it is. */
export interface CommonMemory {
  counts: ArrayBufferLike;
  /** For the bytes of request bodies that are under way, and those of answers. */
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

/** A number that is another after each commit, for every thread from before anybody is told of that commit. */
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
