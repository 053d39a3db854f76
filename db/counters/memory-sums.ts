// Sums by name, for a service that is one process: a table in memory that its threads can share.
import { MemoryLock } from './memory-lock.ts';
import { type Hash, NameHashes, newSeed, SEED_WORDS } from './name-hashes.ts';

// Memory layout in 32-bit words: first the shared values, then the table. An entry is a 64-bit hash and a sum.
const LOCK = 0;
const THREADS = 1;
const CHANGES = 2;
const ENTRIES = 3;
const SEED = 4;
const START_WORDS = 8;
const ENTRY_WORDS = 4;
/** Names that can have a sum at once; takes a megabyte of addresses, and memory for the pages that are used. */
const ENTRIES_MAX = 2 ** 16;
/** Above this fraction the table accepts no new names, so that searches stay short. */
const FULL_PART = 1 / 2;

/**
 * Memory for sums, all of them 0.
 * @param isShared whether several threads add to them
 * @param entries names that can have a sum at once, a power of two
 */
export function allocateSums(isShared: boolean, entries = ENTRIES_MAX): ArrayBufferLike {
  const bytes = (START_WORDS + entries * ENTRY_WORDS) * Int32Array.BYTES_PER_ELEMENT;
  const memory = isShared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes);
  new Int32Array(memory).set(newSeed(), SEED);
  return memory;
}

/** Sums by kind and name. Only sums other than 0 have an entry; hold the lock to read several sums or to add. */
export class MemorySums {
  readonly lock: MemoryLock;
  /** Whether several threads add to them. */
  readonly isShared: boolean;
  /** The number of this thread, from 0. */
  readonly thread: number;
  readonly #words: Int32Array;
  readonly #sums: Float64Array;
  readonly #entries: number;
  readonly #hashes: NameHashes;

  /** @param memory from `allocateSums` */
  constructor(memory = allocateSums(false)) {
    this.#words = new Int32Array(memory);
    this.#sums = new Float64Array(memory);
    this.isShared = memory instanceof SharedArrayBuffer;
    this.#entries = (this.#words.length - START_WORDS) / ENTRY_WORDS;
    this.#hashes = new NameHashes(this.#words.slice(SEED, SEED + SEED_WORDS));
    this.lock = new MemoryLock(this.#words, LOCK);
    this.thread = Atomics.add(this.#words, THREADS, 1);
  }

  /** Number of threads. */
  get threads(): number {
    return Atomics.load(this.#words, THREADS);
  }

  /** A number that changes whenever a thread reports a change. */
  get changes(): number {
    return Atomics.load(this.#words, CHANGES);
  }

  noteChange(): void {
    Atomics.add(this.#words, CHANGES, 1);
  }

  /** Whether a new name might not fit. */
  get isFull(): boolean {
    return (this.#words[ENTRIES] ?? 0) >= this.#entries * FULL_PART;
  }

  /** @param kind a small number: each kind has its own names */
  get(kind: number, name: string | number): number {
    return this.#sumAt(this.#find(this.#hashes.of(name), kind));
  }

  /** Adds to a sum; a new name that does not fit into a full table is not counted. */
  add(kind: number, name: string | number, amount: number): void {
    const hash = this.#hashes.of(name);
    const entry = this.#find(hash, kind);
    const before = this.#sumAt(entry);
    const sum = before + amount;
    if (before === 0) {
      const count = this.#words[ENTRIES] ?? 0;
      if (sum === 0 || count >= this.#entries - 1) return;
      this.#words[ENTRIES] = count + 1;
      this.#words[wordOf(entry)] = hash.low;
      this.#words[wordOf(entry) + 1] = hash.high ^ kind;
    }
    this.#setSum(entry, sum);
    if (sum === 0) this.#close(entry);
  }

  // The entry of a name, or the free entry that ends the search for it.
  #find({ low, high }: Hash, kind: number): number {
    const words = this.#words;
    let entry = low & (this.#entries - 1);
    while (this.#sumAt(entry) !== 0) {
      const at = wordOf(entry);
      if (words[at] === low && words[at + 1] === (high ^ kind)) return entry;
      entry = (entry + 1) & (this.#entries - 1);
    }
    return entry;
  }

  // A freed entry must not end the search for later ones, so each entry that can use it moves up.
  #close(free: number): void {
    const mask = this.#entries - 1;
    const words = this.#words;
    words[ENTRIES] = (words[ENTRIES] ?? 0) - 1;
    let hole = free;
    for (let entry = (hole + 1) & mask; this.#sumAt(entry) !== 0; entry = (entry + 1) & mask) {
      const home = words[wordOf(entry)] ?? 0;
      if (((entry - home) & mask) < ((entry - hole) & mask)) continue;
      words.copyWithin(wordOf(hole), wordOf(entry), wordOf(entry) + ENTRY_WORDS);
      this.#setSum(entry, 0);
      hole = entry;
    }
  }

  #sumAt(entry: number): number {
    return this.#sums[(wordOf(entry) + 2) / 2] ?? 0;
  }

  #setSum(entry: number, sum: number): void {
    this.#sums[(wordOf(entry) + 2) / 2] = sum;
  }
}

function wordOf(entry: number): number {
  return START_WORDS + entry * ENTRY_WORDS;
}
