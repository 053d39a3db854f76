// Reads entries of lists that are read already, the newest first.

import { REMOVED } from './blocks.ts';
import { countBefore, countUpTo, EntryColumns } from './columns.ts';
import type { ListRun } from './list-runs.ts';
import type { ListPart } from './parts.ts';
import { isLater, type SearchPlace } from './places.ts';

/** The part of a list before another one, as `ListRun` gives it; where parts are read one by one, none is asked for. */
export function partBefore(run: ListRun, part: ListPart): ListPart | null | undefined {
  return run.isReadOn ? run.partBefore(part) : null;
}

/** The parts from one place down to another, as far as they are read, the newest first. */
export function partsDownTo(run: ListRun, at: SearchPlace, low: SearchPlace): ListPart[] {
  const parts: ListPart[] = [];
  for (let part = run.partAt(at); part != null; part = partBefore(run, part)) {
    parts.push(part);
    if (!isLater(part.first, low)) break;
  }
  return parts;
}

/** Something with entries. */
interface HasEntries {
  readonly entries: EntryColumns;
}

/** A list in a run that is read backwards. */
export interface Reading {
  /** Which list it is. */
  readonly list: number;
  /** Those of the part that is read. */
  entries: EntryColumns;
  /** What is next. */
  at: number;
  /** The oldest that is read of the part. */
  start: number;
  /** The parts before it, the newest last. */
  readonly older: HasEntries[];
  /** How far it is read. */
  readonly low: SearchPlace;
}

/** Begins to read parts of a list, given from the newest on, from one place down to another; null if nothing is there. */
export function readingOf(
  list: number,
  parts: readonly HasEntries[],
  at: SearchPlace,
  low: SearchPlace,
): Reading | null {
  const older = parts.toReversed();
  const entries = older.pop()?.entries;
  if (entries === undefined) return null;
  const end = countUpTo(entries, at, entries.length);
  const reading = { list, entries, at: end - 1, start: countBefore(entries, low, end), older, low };
  return goOn(reading) ? reading : null;
}

// Continues with an older part where one is read to its end; false if there is nothing more.
function goOn(reading: Reading): boolean {
  while (reading.at < reading.start) {
    const part = reading.older.pop();
    if (part === undefined) return false;
    const { entries } = part;
    reading.entries = entries;
    reading.at = entries.length - 1;
    reading.start = countBefore(entries, reading.low, entries.length);
  }
  return true;
}

/**
 * The newest entries of all lists, newest first: so many, or fewer if there are no more.
 * @param readings list by list, and of each the newest run first, which says whether something is in the list
 */
export function newestOf(readings: readonly Reading[], max: number): EntryColumns {
  const countOf = ({ older, at, start }: Reading) => (older.length > 0 ? max : at + 1 - start);
  const count = readings.reduce((sum, one) => sum + countOf(one), 0);
  const entries = new EntryColumns(Math.min(max, count));
  while (entries.length < max) {
    let newest: Reading | null = null;
    for (const one of readings)
      if (one.at >= one.start && (newest === null || isNewer(one, newest))) newest = one;
    if (newest === null) break;
    takeNext(readings, newest, entries);
  }
  return entries;
}

function isNewer(one: Reading, other: Reading): boolean {
  return one.entries.compare(one.at, other.entries, other.at) > 0;
}

// Goes past a place in all that are read.
function takeNext(readings: readonly Reading[], next: Reading, into: EntryColumns): void {
  const { entries, at } = next;
  let list = -1;
  let resource = REMOVED;
  for (const one of readings) {
    if (one.at < one.start || one.entries.compare(one.at, entries, at) !== 0) continue;
    if (one.list !== list && resource === REMOVED) resource = one.entries.resource[one.at] as number;
    list = one.list;
    one.at -= 1;
    goOn(one);
  }
  if (resource !== REMOVED) into.push(entries.ms[at] as number, entries.count[at] as number, resource);
}
