// Lists of the search index, one of which must have a record, as far as a search has read them.

import type { Eventually } from '../engine/engine.ts';
import { newestOf, partBefore, partsDownTo, type Reading, readingOf } from './backwards.ts';
import { countUpToEntry, type EntryColumns } from './columns.ts';
import { isOfKind } from './keys.ts';
import { ABSENT, ListRun, OPEN, PRESENT, UNTOLD } from './list-runs.ts';
import type { ListPart } from './parts.ts';
import { comparePlaces, FIRST_PLACE, isLater, type SearchPlace } from './places.ts';
import { Begun } from './prefixes.ts';
import type { Run } from './runs.ts';

/** Entries of lists of which all are known. */
export interface KnownLists {
  /** How their names begin. */
  name: string;
  entries: EntryColumns;
}

/** Makes what a search reads of the index, or gives what others have read of it. */
export interface ListsFrom {
  list(name: string, run: Run): ListRun;
  begun(start: string, share: number): Begun;
  /** Whether no search has read anything since this one asked which runs there are. */
  areKept(): boolean;
}

/** Lists as a search reads them: what was read ahead, or by one of its tiers, need not be read again. */
export class ReadLists {
  readonly runs: readonly Run[];
  /** Lists by how their names begin. */
  readonly begun = new Map<string, Begun>();
  readonly #lists = new Map<string, readonly ListRun[]>();
  readonly #from: ListsFrom;

  /** @param runs the newest first */
  constructor(runs: readonly Run[], from?: ListsFrom) {
    this.runs = runs;
    this.#from = from ?? {
      list: (name, run) => new ListRun(name, run),
      begun: (start, share) => new Begun(start, runs, share),
      areKept: () => false,
    };
  }

  /** A list in all runs, the newest first. */
  list(name: string): readonly ListRun[] {
    return this.#lists.getOrInsertComputed(name, () => this.runs.map((run) => this.#from.list(name, run)));
  }

  /** Whether no search has read anything since this one asked which runs there are: nothing can have been missing then. */
  get areKept(): boolean {
    return this.#from.areKept();
  }

  /**
   * The lists whose names begin in some way.
   * @param share which part of what can be looked at they may, if they are not known yet
   */
  begin(start: string, share: number): Begun {
    return this.begun.getOrInsertComputed(start, () => this.#from.begun(start, share));
  }
}

/** An entry is in a list of the words of texts, but in no other one of its source; or it is not told in which it is. */
export const IN_TEXT = 1;
/** An entry is in a list of its source that is not of the words of texts. */
export const IN_NAME = 2;
type Grade = typeof IN_TEXT | typeof IN_NAME;

/** Lists, one of which must have a record. */
export class Source {
  /** Of each list its runs, the newest first; those of texts come last. */
  readonly lists: readonly (readonly ListRun[])[];
  /** The runs of all lists. */
  readonly runs: readonly ListRun[];
  readonly #known: readonly KnownLists[];

  /**
   * @param names the names of the lists
   * @param known entries of others, of which all are known
   */
  constructor(lists: ReadLists, names: readonly string[], known: readonly KnownLists[] = []) {
    const inOrder = names.toSorted((one, other) => gradeOf(other) - gradeOf(one));
    this.lists = inOrder.map((name) => lists.list(name));
    this.runs = this.lists.flat();
    this.#known = known;
  }

  /** Whether no list has anything. */
  get isEmpty(): boolean {
    return this.runs.length === 0 && this.#known.every(({ entries }) => entries.length === 0);
  }

  /** How many lists can have an entry at a place, or before it; the parts there are read. */
  openAt(at: SearchPlace): number {
    return this.runs.reduce((sum, run) => sum + (run.partAt(at) === null ? 0 : 1), 1);
  }

  /** Whether all that is next from a place on is read, and that is few entries. */
  hasAtMost(max: number, at: SearchPlace): boolean {
    return comparePlaces(this.low(at), FIRST_PLACE) === 0 && this.entriesAt(at) <= max;
  }

  /** How many entries are known, or in the parts that are read from a place on. */
  entriesAt(at: SearchPlace): number {
    let count = this.#known.reduce((sum, { entries }) => sum + entries.length, 0);
    for (const run of this.runs)
      for (let part = run.partAt(at); part != null; part = partBefore(run, part))
        count += part.entries.length;
    return count;
  }

  /** Whether it has nothing at a place, nor before it; the parts there are read. */
  endsBefore(at: SearchPlace): boolean {
    const isOver = ({ entries }: KnownLists) => entries.length === 0 || entries.isLater(0, at);
    return this.runs.every((run) => run.partAt(at) === null) && this.#known.every(isOver);
  }

  /** Down to this place, the parts that are read from another one on have all that is next. */
  low(at: SearchPlace): SearchPlace {
    let low = FIRST_PLACE;
    for (const run of this.runs) {
      let last: ListPart | null = null;
      for (let part = run.partAt(at); part != null; part = partBefore(run, part)) last = part;
      if (last !== null && !last.isWhole && isLater(last.first, low)) low = last.first;
    }
    return low;
  }

  /**
   * The newest entries from a place down to another one, newest first, and how far they are all, if they are more than so many.
   */
  newest(at: SearchPlace, low: SearchPlace, max: number): { entries: EntryColumns; reached: SearchPlace } {
    const entries = newestOf(this.#readingsOf(at, low), max);
    return { entries, reached: entries.length < max ? low : entries.at(max - 1) };
  }

  // List by list, and of each the newest run first.
  #readingsOf(at: SearchPlace, low: SearchPlace): Reading[] {
    const ofRuns = this.lists.flatMap((runs, list) =>
      runs.flatMap((run) => readingOf(list, partsDownTo(run, at, low), at, low) ?? []),
    );
    const ofKnown = this.#known.flatMap(
      (one, index) => readingOf(this.lists.length + index, [one], at, low) ?? [],
    );
    return [...ofRuns, ...ofKnown];
  }

  /**
   * In which lists each of the entries, newest first, is.
   * @param enough the grade from which on it does not matter in which others it is as well
   * @param read reads the part of a run for a place; null to leave untold where an entry is whose part is not read
   */
  async grades(
    entries: EntryColumns,
    enough: Grade,
    read: ((run: ListRun, place: SearchPlace) => Eventually<void>) | null,
  ): Promise<Uint8Array> {
    const grades = new Uint8Array(entries.length);
    for (const { name, entries: known } of this.#known)
      noteKnown(entries, known, { grades, grade: gradeOf(name) });
    for (const [newest, ...older] of this.lists) {
      if (newest === undefined) continue;
      const grade = gradeOf(newest.name);
      const said = new Uint8Array(entries.length);
      const least = Math.min(enough, grade);
      for (let at = 0; at < said.length; at++) said[at] = (grades[at] as number) >= least ? ABSENT : OPEN;
      for (const run of [newest, ...older]) {
        if (read === null) run.leaveUnread(entries, said);
        let at = run.tell(entries, said, 0);
        for (; read !== null && at >= 0; at = run.tell(entries, said, at)) {
          const reading = read(run, entries.at(at));
          if (reading instanceof Promise) await reading;
        }
      }
      for (let at = 0; at < said.length; at++)
        if (said[at] === PRESENT) grades[at] = grade;
        else if (said[at] === UNTOLD) grades[at] = Math.max(grades[at] as number, IN_TEXT);
    }
    return grades;
  }
}

function gradeOf(list: string): Grade {
  return isOfKind(list, 'text') ? IN_TEXT : IN_NAME;
}

function noteKnown(
  entries: EntryColumns,
  known: EntryColumns,
  { grades, grade }: { grades: Uint8Array; grade: Grade },
): void {
  let end = known.length;
  for (let at = 0; at < entries.length && end > 0; at++) {
    end = countUpToEntry(known, entries, at, end);
    if (end > 0 && known.compare(end - 1, entries, at) === 0)
      grades[at] = Math.max(grades[at] as number, grade);
  }
}
