// What a run of the search index has of a list, as far as a search has read it.

import { andThen, type Eventually } from '../engine/engine.ts';
import type { Db } from '../engine/schema.ts';
import { REMOVED } from './blocks.ts';
import { countUpToEntry, type EntryColumns } from './columns.ts';
import { findPartsBefore, type ListPart } from './parts.ts';
import { FIRST_PLACE, isLater, LAST_PLACE, previousPlace, type SearchPlace } from './places.ts';
import type { Run } from './runs.ts';

/** What the runs of a list say of a record so far; an older run is asked only if newer ones say nothing. */
export const OPEN = 0;
export const PRESENT = 1;
export const ABSENT = 2;
/** The part that would tell is not read, nor will it be. */
export const UNTOLD = 3;

// A list of which several parts were needed is mostly read on.
const PARTS_AT_ONCE = 16;
// More are read again if they are needed again.
const PARTS_KEPT = 64;

/** A part, and the last place for which it is the one; null if there is nothing up to there. */
interface ReadPart {
  upTo: SearchPlace;
  part: ListPart | null;
}

/** A list in a run. */
export class ListRun {
  readonly name: string;
  readonly run: Run;
  /** Whether several parts are read at once. */
  isReadOn = false;
  /** The newest first. */
  readonly #read: ReadPart[] = [];
  readonly #noted: () => void;
  #users = 0;
  #atOnce = 1;

  /** @param noted is called for each part that is read */
  constructor(name: string, run: Run, noted: () => void = () => undefined) {
    this.name = name;
    this.run = run;
    this.#noted = noted;
  }

  /** The part with what is at a place, or else last before it; null if there is nothing, undefined if it is not read. */
  partAt(place: SearchPlace): ListPart | null | undefined {
    if (isLater(this.run.low, place)) return null;
    const found = this.#read[this.#countFrom(place) - 1];
    if (found === undefined || found.part === null) return found?.part;
    if (!isLater(found.part.first, place)) return found.part;
    return found.part.isWhole ? null : undefined;
  }

  /** The part before another one; null if there is none, undefined if it is not read. */
  partBefore({ first, isWhole }: ListPart): ListPart | null | undefined {
    return isWhole || !isLater(first, FIRST_PLACE) ? null : this.partAt(previousPlace(first));
  }

  /** Where the parts that are read from a place down end; null if the list ends there, or if so many of them are read. */
  endOfRead(place: SearchPlace, partsMax: number): SearchPlace | null {
    let at = place;
    for (let parts = 0; parts < partsMax; parts++) {
      const part = this.partAt(at);
      if (part === undefined) return at;
      if (part === null || part.isWhole || !isLater(part.first, FIRST_PLACE)) return null;
      at = previousPlace(part.first);
    }
    return null;
  }

  /** Keeps what was read for a place. */
  note(place: SearchPlace, part: ListPart | null): void {
    if (this.partAt(place) !== undefined) return;
    const isAfter = part !== null && !part.isWhole && isLater(part.first, place);
    const read = { upTo: part?.isWhole ? LAST_PLACE : place, part: isAfter ? null : part };
    this.#read.splice(this.#countFrom(read.upTo), 0, read);
    this.#noted();
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

  /** Reads the part for a place, and more of those before it each time; an engine that can does it at once. */
  read(db: Db, orgNumber: number, place: SearchPlace): Eventually<void> {
    const wanted = { run: this.run.run, list: this.name, place };
    const limit = this.#atOnce;
    this.#atOnce = Math.min(PARTS_AT_ONCE, 2 * limit);
    return andThen(findPartsBefore(db, orgNumber, wanted, limit), (parts) => this.noteAll(place, parts));
  }

  /** Keeps the part that was read for a place, and those before it. */
  noteAll(place: SearchPlace, parts: readonly ListPart[]): void {
    if (parts.length === 0) this.note(place, null);
    let upTo = place;
    for (const part of parts) {
      this.note(upTo, part);
      upTo = previousPlace(part.first);
    }
  }

  /** About how many parts there are from one place to another, by the oldest one that is read; many if none is. */
  partsBetween(from: SearchPlace, to: SearchPlace): number {
    const part = this.#read.findLast((one) => one.part !== null)?.part;
    if (part == null || part.isWhole) return Number.POSITIVE_INFINITY;
    const span = (part.entries.ms[part.entries.length - 1] as number) - part.first.ms;
    return (to.ms - from.ms) / Math.max(1, span);
  }

  /** Those of the entries, newest first, that are open and need a part that is not read, by their indexes. */
  unread(entries: EntryColumns, said: Uint8Array): number[] {
    const unread: number[] = [];
    let part: ListPart | undefined;
    for (let at = 0; at < entries.length; at++) {
      if (said[at] !== OPEN || entries.isLater(at, this.run.high)) continue;
      if (part !== undefined && !entries.isEarlier(at, part.first)) continue;
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
    for (const at of this.unread(entries, said)) said[at] = UNTOLD;
  }

  /**
   * Notes what the run says of the entries, newest first, that are open.
   * @param from the index of the first of them
   * @returns the index of the one for which a part must be read to go on; -1 if it is done
   */
  tell(entries: EntryColumns, said: Uint8Array, from: number): number {
    let part: ListPart | undefined;
    let listed: EntryColumns | undefined;
    let end = 0;
    for (let at = from; at < entries.length; at++) {
      if (said[at] !== OPEN || entries.isLater(at, this.run.high)) continue;
      if (listed === undefined || part === undefined || entries.isEarlier(at, part.first)) {
        const found = this.partAt(entries.at(at));
        if (found === undefined) return at;
        if (found === null) return -1;
        part = found;
        listed = found.entries;
        end = listed.length;
      }
      end = countUpToEntry(listed, entries, at, end);
      if (end > 0 && listed.compare(end - 1, entries, at) === 0)
        said[at] = listed.resource[end - 1] === REMOVED ? ABSENT : PRESENT;
    }
    return -1;
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
