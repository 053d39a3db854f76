// Sums by name of a service that is one process: a table in memory, which its threads may share.
import { MemoryLock } from './memory-lock.ts';
import { type Hash, NameHashes, newSeed, SEED_WORDS } from './name-hashes.ts';

// The memory in words of 32 bits: what is said once, then the table. An entry is a hash of 64 bits and a sum.
const LOCK = 0;
const THREADS = 1;
const CHANGES = 2;
const ENTRIES = 3;
const SEED = 4;
const START_WORDS = 8;
const ENTRY_WORDS = 4;
/** Names that have a sum at once: a megabyte, of which only what is used is in memory. */
const ENTRIES_MAX = 2 ** 16;
/** From there on it is full for what is new; the rest keeps searches short. */
const FULL_PART = 1 / 2;

/**
 * Memory for sums, all of them 0.
 * @param isShared whether several threads add to them
 * @param entries names that have a sum at once, a power of two
 */
export function sumsMemory(isShared: boolean, entries = ENTRIES_MAX): ArrayBufferLike {
  const bytes = (START_WORDS + entries * ENTRY_WORDS) * Int32Array.BYTES_PER_ELEMENT;
  const memory = isShared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes);
  new Int32Array(memory).set(newSeed(), SEED);
  return memory;
}

/** Sums by kind and name. Only what is not 0 has an entry; whoever looks at several, or adds, holds the lock. */
export class MemorySums {
  readonly lock: MemoryLock;
  /** Whether several threads add to them. */
  readonly isShared: boolean;
  /** Which of the threads this is, from 0. */
  readonly thread: number;
  readonly #words: Int32Array;
  readonly #sums: Float64Array;
  readonly #entries: number;
  readonly #hashes: NameHashes;

  /** @param memory of `sumsMemory` */
  constructor(memory = sumsMemory(false)) {
    this.#words = new Int32Array(memory);
    this.#sums = new Float64Array(memory);
    this.isShared = memory instanceof SharedArrayBuffer;
    this.#entries = (this.#words.length - START_WORDS) / ENTRY_WORDS;
    this.#hashes = new NameHashes(this.#words.slice(SEED, SEED + SEED_WORDS));
    this.lock = new MemoryLock(this.#words, LOCK);
    this.thread = Atomics.add(this.#words, THREADS, 1);
  }

  /** How many threads there are. */
  get threads(): number {
    return Atomics.load(this.#words, THREADS);
  }

  /** A number that is another whenever one of them has said that something changed. */
  get changes(): number {
    return Atomics.load(this.#words, CHANGES);
  }

  noteChange(): void {
    Atomics.add(this.#words, CHANGES, 1);
  }

  /** Whether there may be no place for a name that has no sum yet. */
  get isFull(): boolean {
    return (this.#words[ENTRIES] ?? 0) >= this.#entries * FULL_PART;
  }

  /** @param kind a small number: each has its own names */
  get(kind: number, name: string | number): number {
    return this.#sumAt(this.#find(this.#hashes.of(name), kind));
  }

  /** Adds to a sum; what is new and has no place left, in a table more than full, is not counted. */
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

  // The entry of a name, or the free one that ends the search for it.
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

  // An entry that became free must not end the search for those after it: each that may stand there moves up.
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
