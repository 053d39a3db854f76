// Counts of a service that is one process: a table in memory, which its threads may share.
import { type Counted, type Counters, hasRoom, type Usage, WINDOW_MS } from './counters.ts';
import { MemoryLock } from './memory-lock.ts';
import { NameHashes, newSeed, SEED_WORDS } from './name-hashes.ts';

// The memory in words of 32 bits: what is said once, then a table of entries for each kind of event.
const LOCK = 0;
const GENERATION = 1;
const MINUTE = 2;
const SEED = 3;
const START = 8;
const ENTRY_WORDS = 4;

const TABLES: Record<Counted['what'], number> = { requests: 0, wrong_keys: 1, downloads: 2 };
const TABLE_COUNT = Object.keys(TABLES).length;
// Names of a kind that can be counted in a minute: a megabyte.
const ENTRIES = 2 ** 16;
// So many places after that of its hash an entry may stand at most; at half of all, none is pushed as far.
const PROBES_MAX = 256;

/**
 * Memory for counts, zeroed but for where each start begins.
 * @param isShared whether several threads count in it
 * @param entries names of a kind that can be counted in a minute, a power of two
 */
export function countMemory(isShared: boolean, entries = ENTRIES): ArrayBufferLike {
  const bytes = (START + TABLE_COUNT * entries * ENTRY_WORDS) * Int32Array.BYTES_PER_ELEMENT;
  const memory = isShared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes);
  const words = new Int32Array(memory);
  words[GENERATION] = 1;
  words[MINUTE] = -1;
  words.set(newSeed(), SEED);
  return memory;
}

// In place of an entry.
const NO_PLACE = 0;

/**
 * Each name has an entry in the table: a hash of 64 bits, the generation and the count. A minute's end is another
 * generation, by which all entries are free; within one none is taken back, so that the first free one ends a search.
 * Where a name finds no room its limit is taken for used up.
 */
export class MemoryCounters implements Counters {
  readonly #clock: () => number;
  readonly #words: Int32Array;
  readonly #lock: MemoryLock;
  readonly #entries: number;
  readonly #hashes: NameHashes;
  // What is counted for just now, while the memory is held.
  #group = NO_PLACE;
  #member = NO_PLACE;

  /** @param clock Unix milliseconds @param memory of `countMemory` */
  constructor(clock: () => number, memory = countMemory(false)) {
    this.#clock = clock;
    this.#words = new Int32Array(memory);
    this.#lock = new MemoryLock(this.#words, LOCK);
    this.#entries = (this.#words.length - START) / ENTRY_WORDS / TABLE_COUNT;
    this.#hashes = new NameHashes(this.#words.slice(SEED, SEED + SEED_WORDS));
  }

  count(counted: Counted): Usage {
    const usage = this.#enter(counted);
    if (hasRoom(counted, usage)) {
      this.#add(1);
      usage.isCounted = true;
      usage.used += 1;
      usage.memberUsed += 1;
    }
    this.#lock.leave();
    return usage;
  }

  look(counted: Counted): Usage {
    const usage = this.#enter(counted);
    this.#lock.leave();
    return usage;
  }

  giveBack(counted: Counted, minute: number): void {
    const usage = this.#enter(counted);
    if (usage.minute === minute) this.#add(-1);
    this.#lock.leave();
  }

  purge(): void {
    // Each minute forgets the one before.
  }

  // Takes the memory for itself, and finds what is counted for; nothing between this and its leaving can throw.
  #enter({ what, group, limit, member }: Counted): Usage {
    const groupHash = this.#hashes.of(group);
    const memberHash = member && this.#hashes.of(member.name);
    this.#lock.enter();
    // Not before: a thread that has waited for long would seem to have its clock set back.
    const now = this.#clock();
    const minute = this.#turnTo(Math.floor(now / WINDOW_MS));
    const table = START + TABLES[what] * this.#entries * ENTRY_WORDS;
    const { low, high } = groupHash;
    this.#group = this.#placeOf(table, low, high);
    this.#member = memberHash ? this.#placeOf(table, memberHash.low ^ high, memberHash.high ^ low) : NO_PLACE;
    return {
      isCounted: false,
      used: this.#group === NO_PLACE ? limit : this.#countAt(this.#group),
      memberUsed:
        memberHash && this.#member === NO_PLACE ? (member?.limit ?? 0) : this.#countAt(this.#member),
      minute,
      now,
    };
  }

  #turnTo(minute: number): number {
    const current = this.#words[MINUTE] ?? 0;
    // A request that began in the last minute must not bring it back; a clock that was set back must.
    if (minute <= current && minute >= current - 1) return current;
    this.#words[MINUTE] = minute;
    this.#words[GENERATION] = (this.#words[GENERATION] ?? 0) + 1;
    return minute;
  }

  // The entry of a name, which is made if there is none yet.
  #placeOf(table: number, low: number, high: number): number {
    const words = this.#words;
    const generation = words[GENERATION] ?? 0;
    for (let probe = 0; probe < PROBES_MAX; probe++) {
      const at = table + ((low + probe) & (this.#entries - 1)) * ENTRY_WORDS;
      if (words[at + 2] !== generation) {
        words[at] = low;
        words[at + 1] = high;
        words[at + 2] = generation;
        words[at + 3] = 0;
        return at;
      }
      if (words[at] === low && words[at + 1] === high) return at;
    }
    return NO_PLACE;
  }

  #countAt(place: number): number {
    return place === NO_PLACE ? 0 : (this.#words[place + 3] ?? 0);
  }

  #add(events: 1 | -1): void {
    for (const place of [this.#group, this.#member])
      if (place !== NO_PLACE) this.#words[place + 3] = this.#countAt(place) + events;
  }
}
