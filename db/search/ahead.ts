// Reads together what a search needs first of the index, where each statement is a way to a server and back.

import type { Db } from '../engine/schema.ts';
import { readParts } from './list-reads.ts';
import type { ListRun } from './list-runs.ts';
import type { SearchPlace } from './places.ts';
import { type Begun, readStep } from './prefixes.ts';
import type { ReadLists } from './source.ts';

/** What a tier reads whatever else is found. */
export interface FirstLists {
  /** The names of those whose part at a place is read. */
  names: readonly string[];
  from: SearchPlace;
  /** How the names of others begin. */
  starts: readonly string[];
}

// In a name, and in any other text.
const STARTS_PER_WORD = 2;

/** Reads what some tiers need first; returns how many entries were looked at. */
export async function readAhead(
  db: Db,
  orgNumber: number,
  lists: ReadLists,
  wanted: readonly FirstLists[],
): Promise<number> {
  const places = new Map<ListRun, Set<SearchPlace>>();
  for (const { names, from } of wanted)
    for (const run of names.flatMap((name) => lists.list(name)))
      if (run.partAt(from) === undefined) places.getOrInsertComputed(run, () => new Set()).add(from);
  const starts = new Set(wanted.flatMap((one) => one.starts));
  const share = Math.min(1, STARTS_PER_WORD / starts.size);
  // The rest of them may not be needed: where a word has few records.
  const begun = begunIn(lists, { starts, share }).filter((one) => !one.isBegun);
  const [parts] = await Promise.all([readParts(db, orgNumber, [...places]), readStep(db, orgNumber, begun)]);
  return parts;
}

/**
 * Reads all lists that begin in some ways; returns how many entries were looked at.
 * @param share which part of what can be looked at each may
 */
export async function readBegun(
  db: Db,
  orgNumber: number,
  lists: ReadLists,
  wanted: { starts: Iterable<string>; share: number },
): Promise<number> {
  const read = await Promise.all(begunIn(lists, wanted).map((one) => one.read(db, orgNumber)));
  return read.reduce((sum, count) => sum + count, 0);
}

function begunIn(lists: ReadLists, { starts, share }: { starts: Iterable<string>; share: number }): Begun[] {
  return [...starts].map((start) => lists.begin(start, share));
}
