// Per-minute counts of a service that is one process: a table in memory that its threads can share.
import { type Counters, hasRoom, type RateLimitEvent, type RateLimitUsage, WINDOW_MS } from './counters.ts';
import { MemoryLock } from './memory-lock.ts';
import { NameHashes, newSeed, SEED_WORDS } from './name-hashes.ts';

// Memory layout in 32-bit words: first the shared values, then a table of entries for each kind of event.
const LOCK = 0;
const GENERATION = 1;
const MINUTE = 2;
const SEED = 3;
const START = 8;
const ENTRY_WORDS = 4;

const TABLES: Record<RateLimitEvent['what'], number> = { requests: 0, wrong_keys: 1, downloads: 2 };
const TABLE_COUNT = Object.keys(TABLES).length;
// Names of one kind that can be counted per minute; takes a megabyte.
const ENTRIES = 2 ** 16;
// Maximum distance of an entry from the position of its hash; at half full, none gets that far.
const PROBES_MAX = 256;

/**
 * Memory for counts, zeroed except for the start of each table.
 * @param isShared whether several threads count in it
 * @param entries names of one kind that can be counted per minute, a power of two
 */
export function allocateCounters(isShared: boolean, entries = ENTRIES): ArrayBufferLike {
  const bytes = (START + TABLE_COUNT * entries * ENTRY_WORDS) * Int32Array.BYTES_PER_ELEMENT;
  const memory = isShared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes);
  const words = new Int32Array(memory);
  words[GENERATION] = 1;
  words[MINUTE] = -1;
  words.set(newSeed(), SEED);
  return memory;
}

// Means that there is no entry.
const NO_PLACE = 0;

/**
 * Each name has an entry in the table: a 64-bit hash, the generation and the count. The end of a minute starts a new
 * generation, which frees all entries; within one, none is freed, so the first free entry ends a search. If the table
 * has no room for a name, its limit counts as reached.
 */
export class MemoryCounters implements Counters {
  readonly #clock: () => number;
  readonly #words: Int32Array;
  readonly #lock: MemoryLock;
  readonly #entries: number;
  readonly #hashes: NameHashes;
  // What is being counted while the lock is held.
  #group = NO_PLACE;
  #member = NO_PLACE;

  /** @param clock Unix milliseconds @param memory from `allocateCounters` */
  constructor(clock: () => number, memory = allocateCounters(false)) {
    this.#clock = clock;
    this.#words = new Int32Array(memory);
    this.#lock = new MemoryLock(this.#words, LOCK);
    this.#entries = (this.#words.length - START) / ENTRY_WORDS / TABLE_COUNT;
    this.#hashes = new NameHashes(this.#words.slice(SEED, SEED + SEED_WORDS));
  }

  count(counted: RateLimitEvent): RateLimitUsage {
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

  peek(counted: RateLimitEvent): RateLimitUsage {
    const usage = this.#enter(counted);
    this.#lock.leave();
    return usage;
  }

  giveBack(counted: RateLimitEvent, minute: number): void {
    const usage = this.#enter(counted);
    if (usage.minute === minute) this.#add(-1);
    this.#lock.leave();
  }

  purge(): void {
    // Each minute replaces the previous one.
  }

  // Takes the lock and finds the entries; nothing until the lock is released can throw.
  #enter({ what, group, limit, member }: RateLimitEvent): RateLimitUsage {
    const last = this.#words[MINUTE] ?? 0;
    const groupHash = this.#hashes.of(group, last);
    const memberHash = member && this.#hashes.of(member.name, last);
    this.#lock.enter();
    // Read under the lock: otherwise a thread that waited long would seem to have a clock that was set back.
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
    // A request that began in the last minute must not bring that back, but a clock that was set back must.
    if (minute <= current && minute >= current - 1) return current;
    this.#words[MINUTE] = minute;
    this.#words[GENERATION] = (this.#words[GENERATION] ?? 0) + 1;
    return minute;
  }

  // The entry of a name, created if necessary.
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
