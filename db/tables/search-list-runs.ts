// What a run of the search index has of a list, as far as a search has read it.

import type { Db } from '../engine/schema.ts';
import { REMOVED } from './search-blocks.ts';
import { countUpToEntry, type EntryColumns } from './search-columns.ts';
import { findParts, type ListPart } from './search-parts.ts';
import { isLater, LAST_PLACE, type SearchPlace } from './search-places.ts';
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

  /**
   * Which of the entries, newest first, are open and need a part that is not read yet, by their indexes.
   * @param max so many at most
   * @param from the first that is looked at
   */
  unread(entries: EntryColumns, said: Uint8Array, max: number, from = 0): number[] {
    const unread: number[] = [];
    let part: ListPart | undefined;
    for (let at = from; at < entries.length && unread.length < max; at++) {
      if (said[at] !== OPEN || entries.isLater(at, this.run.high)) continue;
      if (part !== undefined && !isBefore(entries, at, part.first)) continue;
      const found = this.partAt(entries.at(at));
      // Nor is there anything before it.
      if (found === null) break;
      if (found === undefined) unread.push(at);
      else part = found;
    }
    return unread;
  }

  /** Leaves untold of which of the entries, newest first, a part would have to be read. */
  leaveUnread(entries: EntryColumns, said: Uint8Array): void {
    for (const at of this.unread(entries, said, entries.length)) said[at] = UNTOLD;
  }

  /** Notes what the run says of the entries, newest first, that are open; the parts for them are read. */
  tell(entries: EntryColumns, said: Uint8Array): void {
    let part: ListPart | undefined;
    let listed: EntryColumns | undefined;
    let end = 0;
    for (let at = 0; at < entries.length; at++) {
      if (said[at] !== OPEN || entries.isLater(at, this.run.high)) continue;
      if (listed === undefined || part === undefined || isBefore(entries, at, part.first)) {
        const found = this.partAt(entries.at(at));
        if (found === undefined) throw new Error('a part of a list is not read');
        if (found === null) return;
        part = found;
        listed = found.entries;
        end = listed.length;
      }
      end = countUpToEntry(listed, entries, at, end);
      if (end > 0 && listed.compare(end - 1, entries, at) === 0)
        said[at] = listed.resource[end - 1] === REMOVED ? ABSENT : PRESENT;
    }
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

function isBefore(entries: EntryColumns, index: number, { ms, count }: SearchPlace): boolean {
  const at = entries.ms[index] as number;
  return at < ms || (at === ms && (entries.count[index] as number) < count);
}
