// Reads together what a search needs first of the index, where each statement is a way to a server and back.

import type { Db } from '../engine/schema.ts';
import { findParts } from './search-parts.ts';
import { LAST_PLACE } from './search-places.ts';
import { type BegunLists, findBegun } from './search-prefixes.ts';
import type { Run } from './search-runs.ts';
import type { NewestParts } from './search-source.ts';

/** Lists that are read whatever else is found. */
export interface FirstLists {
  /** The names of those whose newest part is read. */
  names: readonly string[];
  /** How the names of others begin. */
  starts: readonly string[];
}

/** What was read. */
export interface ReadAhead {
  newest: NewestParts;
  begun: ReadonlyMap<string, BegunLists | null>;
  /** How many entries were looked at. */
  examined: number;
}

// In a name, and in any other text.
const STARTS_PER_WORD = 2;

/** Reads the newest parts of some lists in all runs, and what begins in some ways. */
export async function readAhead(
  db: Db,
  orgNumber: number,
  runs: readonly Run[],
  { names, starts }: FirstLists,
): Promise<ReadAhead> {
  const keys = names.flatMap((list) => runs.map(({ run }) => ({ run, list, place: LAST_PLACE })));
  const [parts, found] = await Promise.all([
    findParts(db, orgNumber, keys),
    findBegun(db, orgNumber, { runs, starts, share: Math.min(1, STARTS_PER_WORD / starts.length) }),
  ]);
  const newest = names.map(
    (name, at) => [name, parts.slice(at * runs.length, (at + 1) * runs.length)] as const,
  );
  return {
    newest: new Map(newest),
    begun: new Map(starts.map((start, at) => [start, found[at] ?? null])),
    examined: keys.length + found.reduce((sum, one) => sum + (one?.examined ?? 0), 0),
  };
}
