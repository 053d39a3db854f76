// Reads parts of lists of the search index, of several lists and runs together.

import type { Db } from '../engine/schema.ts';
import type { IndexKey } from './keys.ts';
import type { ListRun } from './list-runs.ts';
import { findFurtherParts, findNextParts, findParts, findPartsWithin, type PartRange } from './parts.ts';
import { FIRST_PLACE, type SearchPlace } from './places.ts';

/** Reads some parts of each list from a place down, and more of them if it was read on before; returns of how many lists. */
export async function readNextParts(
  db: Db,
  orgNumber: number,
  lists: readonly (readonly [ListRun, SearchPlace])[],
): Promise<number> {
  const read = async (find: typeof findNextParts, some: typeof lists) => {
    const ranges = some.map(([{ run, name }, place]) => ({
      ...{ run: run.run, list: name, place },
      downTo: FIRST_PLACE,
    }));
    const found = await find(db, orgNumber, ranges);
    for (const [index, [list, place]] of some.entries()) {
      list.isReadOn = true;
      list.noteAll(place, found[index] ?? []);
    }
  };
  const next = lists.filter(([one]) => !one.isReadOn);
  const further = lists.filter(([one]) => one.isReadOn);
  await Promise.all([read(findNextParts, next), read(findFurtherParts, further)]);
  return lists.length;
}

/** Reads parts of lists for some places of each, newest first; returns for how many. */
export async function readParts(
  db: Db,
  orgNumber: number,
  wanted: readonly [ListRun, Iterable<SearchPlace>][],
): Promise<number> {
  const one: { list: ListRun; key: IndexKey }[] = [];
  const ranges: { list: ListRun; range: PartRange }[] = [];
  let count = 0;
  for (const [list, some] of wanted) {
    const places = [...some];
    const [first] = places;
    const last = places.at(-1);
    if (first === undefined || last === undefined) continue;
    count += places.length;
    const of = { run: list.run.run, list: list.name };
    // Where most parts are needed, all of them take less time.
    const isRange = !db.engine.answersAtOnce && list.partsBetween(last, first) < places.length;
    if (isRange) ranges.push({ list, range: { ...of, place: first, downTo: last } });
    else one.push(...places.map((place) => ({ list, key: { ...of, place } })));
  }
  const [parts, ofRanges] = await Promise.all([
    findParts(
      db,
      orgNumber,
      one.map(({ key }) => key),
    ),
    findPartsWithin(
      db,
      orgNumber,
      ranges.map(({ range }) => range),
    ),
  ]);
  for (const [index, { list, key }] of one.entries()) list.note(key.place, parts[index] ?? null);
  for (const [index, { list, range }] of ranges.entries()) list.noteAll(range.place, ofRanges[index] ?? []);
  return count;
}
