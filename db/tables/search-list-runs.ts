// What a run of the search index has of a list, as far as a search has read it.

import type { Db } from '../engine/schema.ts';
import { type Entries, REMOVED } from './search-blocks.ts';
import { findParts, type ListPart } from './search-parts.ts';
import { comparePlaces, isLater, LAST_PLACE, type SearchEntry, type SearchPlace } from './search-places.ts';
import type { Run } from './search-runs.ts';

/** What the runs of a list say of a record so far; an older run is asked only if newer ones say nothing. */
export const OPEN = 0;
export const PRESENT = 1;
export const ABSENT = 2;
/** The part that would tell is not read, nor will it be. */
export const UNTOLD = 3;

// More are read again if they are needed again.
const PARTS_KEPT = 32;

/** A part, and the last place for which it is the one; null if there is nothing up to there. */
interface ReadPart {
  upTo: SearchPlace;
  part: ListPart | null;
}

/** A list in a run. */
export class ListRun {
  readonly name: string;
  readonly run: Run;
  /** The newest first. */
  readonly #read: ReadPart[] = [];
  #users = 0;

  constructor(name: string, run: Run) {
    this.name = name;
    this.run = run;
  }

  /** The part with what is at a place, or else last before it; null if there is nothing, undefined if it is not read. */
  partAt(place: SearchPlace): ListPart | null | undefined {
    if (isLater(this.run.low, place)) return null;
    const found = this.#read[this.#countFrom(place) - 1];
    if (found === undefined || found.part === null) return found?.part;
    if (!isLater(found.part.first, place)) return found.part;
    return found.part.isWhole ? null : undefined;
  }

  /** Keeps what was read for a place. */
  note(place: SearchPlace, part: ListPart | null): void {
    if (this.partAt(place) !== undefined) return;
    const isAfter = part !== null && !part.isWhole && isLater(part.first, place);
    const read = { upTo: part?.isWhole ? LAST_PLACE : place, part: isAfter ? null : part };
    this.#read.splice(this.#countFrom(read.upTo), 0, read);
  }

  /** Keeps all parts that are read, until `release`. */
  use(): void {
    this.#users++;
  }

  /** Forgets parts if they are many; not the oldest one, where a tier goes on, nor the newest ones, where another begins. */
  release(): void {
    this.#users--;
    if (this.#users === 0 && this.#read.length > PARTS_KEPT)
      this.#read.splice(PARTS_KEPT, this.#read.length - PARTS_KEPT - 1);
  }

  /** Those of the entries, newest first, that are open and for which a part is to be read. */
  unread(entries: Entries, said?: Uint8Array): SearchEntry[] {
    const unread: SearchEntry[] = [];
    let part: ListPart | undefined;
    for (let at = 0; at < entries.length; at++) {
      const entry = entries[at] as SearchEntry;
      if ((said?.[at] ?? OPEN) !== OPEN || isLater(entry, this.run.high)) continue;
      if (part !== undefined && !isLater(part.first, entry)) continue;
      const found = this.partAt(entry);
      // Nor is there anything before it.
      if (found === null) break;
      if (found === undefined) unread.push(entry);
      else part = found;
    }
    return unread;
  }

  /** Leaves untold of which of the entries, newest first, a part would have to be read. */
  leaveUnread(entries: Entries, said: Uint8Array): void {
    const unread = new Set(this.unread(entries, said));
    for (const [at, entry] of entries.entries()) if (unread.has(entry)) said[at] = UNTOLD;
  }

  /** Notes what the run says of the entries, newest first, that are open; the parts for them are read. */
  tell(entries: Entries, said: Uint8Array): void {
    let part: ListPart | undefined;
    let end = 0;
    for (let at = 0; at < entries.length; at++) {
      const entry = entries[at] as SearchEntry;
      if (said[at] !== OPEN || isLater(entry, this.run.high)) continue;
      if (part === undefined || isLater(part.first, entry)) {
        const found = this.partAt(entry);
        if (found === undefined) throw new Error('a part of a list is not read');
        if (found === null) return;
        part = found;
        end = part.entries.length;
      }
      end = countUpTo(part.entries, entry, end);
      const last = part.entries[end - 1] as SearchEntry;
      if (comparePlaces(last, entry) === 0) said[at] = last.resource === REMOVED ? ABSENT : PRESENT;
    }
  }

  /** The last entries from one place to another, oldest first, at most so many; what they are in is read. */
  last(low: SearchPlace, at: SearchPlace, max: number): Entries {
    const entries = this.partAt(at)?.entries ?? [];
    const end = countUpTo(entries, at, entries.length);
    const upTo = countUpTo(entries, low, end);
    const isThere = upTo > 0 && comparePlaces(entries[upTo - 1] as SearchEntry, low) === 0;
    return entries.slice(Math.max(isThere ? upTo - 1 : upTo, end - max), end);
  }

  // How many of those that are read are for this place or one after it.
  #countFrom(place: SearchPlace): number {
    let low = 0;
    let high = this.#read.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isLater(place, (this.#read[middle] as ReadPart).upTo)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** Reads parts of lists for some places of each; returns how many. */
export async function readParts(
  db: Db,
  orgNumber: number,
  wanted: readonly [ListRun, Iterable<SearchPlace>][],
): Promise<number> {
  const all = wanted.flatMap(([list, places]) => [...places].map((place) => ({ list, place })));
  const keys = all.map(({ list: { run, name }, place }) => ({ run: run.run, list: name, place }));
  const parts = await findParts(db, orgNumber, keys);
  for (const [index, { list, place }] of all.entries()) list.note(place, parts[index] ?? null);
  return all.length;
}

/** How many of the first `end` entries are at a place or before it; quick if the place is close to the last of them. */
export function countUpTo(entries: Entries, place: SearchPlace, end: number): number {
  let high = end;
  let step = 1;
  let low = high - step;
  while (low >= 0 && isLater(entries[low] as SearchEntry, place)) {
    high = low;
    step *= 2;
    low = high - step;
  }
  low = Math.max(low, 0);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isLater(entries[middle] as SearchEntry, place)) high = middle;
    else low = middle + 1;
  }
  return low;
}
