// Entries of lists of the search index in columns: an object for each of thousands of them would take several times as long.
import type { SearchEntry, SearchPlace } from './places.ts';

/** Entries in the order of their places, from the oldest to the newest unless it is said otherwise; each place once. */
export class EntryColumns {
  readonly ms: Float64Array;
  readonly count: Uint32Array;
  readonly resource: Uint8Array;
  length = 0;

  /** @param max how many there will be at most */
  constructor(max: number) {
    this.ms = new Float64Array(max);
    this.count = new Uint32Array(max);
    this.resource = new Uint8Array(max);
  }

  static of(entries: readonly SearchEntry[]): EntryColumns {
    const columns = new EntryColumns(entries.length);
    for (const { ms, count, resource } of entries) columns.push(ms, count, resource);
    return columns;
  }

  push(ms: number, count: number, resource: number): void {
    const at = this.length++;
    this.ms[at] = ms;
    this.count[at] = count;
    this.resource[at] = resource;
  }

  /** The entry with that index, which is there. */
  at(index: number): SearchEntry {
    return {
      ms: this.ms[index] as number,
      count: this.count[index] as number,
      resource: this.resource[index] as number,
    };
  }

  /** Whether an entry comes after a place. */
  isLater(index: number, { ms, count }: SearchPlace): boolean {
    return isLaterThan(this.ms[index] as number, this.count[index] as number, ms, count);
  }

  /** Whether an entry comes before a place. */
  isEarlier(index: number, { ms, count }: SearchPlace): boolean {
    return isLaterThan(ms, count, this.ms[index] as number, this.count[index] as number);
  }

  /** How an entry compares with that of others: less than zero if it is older. */
  compare(index: number, others: EntryColumns, at: number): number {
    const apart = (this.ms[index] as number) - (others.ms[at] as number);
    return apart || (this.count[index] as number) - (others.count[at] as number);
  }

  /** Those of the entries that are marked with a number other than zero, in the same order. */
  select(marks: Uint8Array): EntryColumns {
    let count = 0;
    for (let index = 0; index < this.length; index++) if (marks[index] !== 0) count++;
    if (count === this.length) return this;
    // Large columns cost more to make than all that is done with few of their entries.
    const selected = new EntryColumns(count);
    for (let index = 0; index < this.length; index++)
      if (marks[index] !== 0)
        selected.push(this.ms[index] as number, this.count[index] as number, this.resource[index] as number);
    return selected;
  }

  /** The first of the entries. */
  first(count: number): EntryColumns {
    const first = new EntryColumns(count);
    for (let index = 0; index < count; index++)
      first.push(this.ms[index] as number, this.count[index] as number, this.resource[index] as number);
    return first;
  }

  /** An object for each. */
  toEntries(): SearchEntry[] {
    return Array.from({ length: this.length }, (_, index) => this.at(index));
  }
}

/** Whether a place of some milliseconds and a count comes after another. */
function isLaterThan(ms: number, count: number, otherMs: number, otherCount: number): boolean {
  return ms > otherMs || (ms === otherMs && count > otherCount);
}

/** How many of the first `end` entries are at a place or before it; quick if the place is close to the last of them. */
export function countUpTo(entries: EntryColumns, place: SearchPlace, end: number): number {
  return countUpToPlace(entries, place.ms, place.count, end);
}

/** The same for the place of an entry among others. */
export function countUpToEntry(entries: EntryColumns, others: EntryColumns, at: number, end: number): number {
  return countUpToPlace(entries, others.ms[at] as number, others.count[at] as number, end);
}

function countUpToPlace(entries: EntryColumns, ms: number, count: number, end: number): number {
  const { ms: all, count: counts } = entries;
  let high = end;
  let step = 1;
  let low = high - step;
  while (low >= 0 && isLaterThan(all[low] as number, counts[low] as number, ms, count)) {
    high = low;
    step *= 2;
    low = high - step;
  }
  low = Math.max(low, 0);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isLaterThan(all[middle] as number, counts[middle] as number, ms, count)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** How many of the first `end` entries come before a place. */
export function countBefore(entries: EntryColumns, place: SearchPlace, end: number): number {
  const upTo = countUpTo(entries, place, end);
  return entries.ms[upTo - 1] === place.ms && entries.count[upTo - 1] === place.count ? upTo - 1 : upTo;
}

/** The entry at a place, if there is one. */
export function entryAt(entries: EntryColumns, place: SearchPlace): SearchEntry | undefined {
  const before = countBefore(entries, place, entries.length);
  return before < countUpTo(entries, place, entries.length) ? entries.at(before) : undefined;
}
