// Decides which runs of the search index are merged, a part at a time: a search reads few runs, and entries are rarely written.

import type { Trx } from '../engine/schema.ts';
import type { SearchRunRow } from '../engine/search-rows.ts';
import { keyBytes, keyOfBytes } from './keys.ts';
import { insertRows, removeFirstRows, removeRowsBefore } from './lists.ts';
import { mergeFrom } from './merging.ts';
import { changeRun, findRuns, GIVEN_UP, insertRun, isLive, nextNumber, removeRun } from './runs.ts';

// So many runs of about a size become one, which has so many times that size.
const MERGED_MIN = 4;
const MERGED_MAX = 12;
const SMALLEST_BYTES = 256;
// At rest, a run has so many times the size of all newer ones together, or is the only small one: every run costs a search the
// same, however small it is. Entries are written about twice as often for that.
const REST_RATIO = 8;
const REST_BYTES = 65_536;
// A search that read the list of runs before that has ended by then.
const KEPT_MS = 15_000;

/**
 * How many runs are left as they are as long as others come: the more become one, the less often entries are written. With more
 * runs, searches would be slow.
 */
export const RUNS_WHILE_INDEXING = 20;

interface Use {
  /** Whether somebody can search meanwhile. */
  isRead: boolean;
  /** So many runs are left as they are. */
  kept: number;
  /** Which runs are merged next. */
  choose: (runs: readonly SearchRunRow[]) => SearchRunRow[] | null;
}

/**
 * Merges some runs or a part of them, or removes rows of runs that are merged; returns whether there was anything to do.
 * @param kept so many runs are left as they are
 */
export function mergeSome(trx: Trx, orgNumber: number, kept = 0): Promise<boolean> {
  return mergeNext(trx, orgNumber, { isRead: true, kept, choose: dueGroup });
}

/** The same, until there are as few runs as a search should read. */
export function mergeToRest(trx: Trx, orgNumber: number): Promise<boolean> {
  return mergeNext(trx, orgNumber, { isRead: true, kept: 0, choose: restGroup });
}

/**
 * The same as either where nobody searches: rows are removed as they are merged, so that they take no space twice.
 * @param kept so many runs are left as they are, because others come; 0 if none do
 */
export function mergeUnread(trx: Trx, orgNumber: number, kept = 0): Promise<boolean> {
  return mergeNext(trx, orgNumber, { isRead: false, kept, choose: kept > 0 ? dueGroup : restGroup });
}

async function mergeNext(trx: Trx, orgNumber: number, use: Use): Promise<boolean> {
  const runs = await findRuns(trx, orgNumber);
  if (await removeSome(trx, runs, use.isRead ? Date.now() - KEPT_MS : Number.POSITIVE_INFINITY)) return true;
  if (runs.filter(isLive).length <= use.kept) return false;
  return mergeDue(trx, runs, use.choose(runs), use);
}

/**
 * The same, until there is one run, in which nothing is left of what was removed. A search that is under way begins again.
 */
export async function mergeWhole(trx: Trx, orgNumber: number): Promise<boolean> {
  const runs = await findRuns(trx, orgNumber);
  if (await removeSome(trx, runs, Number.POSITIVE_INFINITY)) return true;
  const hasRemovals = runs.some(({ removals }) => removals > 0);
  const isUnderWay = runs.some(({ is_built }) => is_built === 0);
  return mergeDue(trx, runs, hasRemovals && !isUnderWay ? runs : null, { isRead: true });
}

async function removeSome(trx: Trx, runs: readonly SearchRunRow[], goneUntil: number): Promise<boolean> {
  const gone = runs.find(({ gone_at }) => gone_at !== null && gone_at <= goneUntil);
  if (gone === undefined) return false;
  if (gone.gone_at !== GIVEN_UP) await changeRun(trx, gone, { gone_at: GIVEN_UP });
  if (!(await removeFirstRows(trx, gone.org_id, gone.run))) await removeRun(trx, gone.org_id, gone.run);
  return true;
}

async function mergeDue(
  trx: Trx,
  runs: readonly SearchRunRow[],
  group: readonly SearchRunRow[] | null,
  use: Pick<Use, 'isRead'>,
): Promise<boolean> {
  if (group !== null) {
    await mergePart(trx, runs, { target: await beginMerge(trx, runs, group), sources: group }, use);
    return true;
  }
  const underWay = runs.flatMap((target) => {
    if (target.is_built === 1) return [];
    const sources = runs.filter(({ merged_into }) => merged_into === target.run);
    return [{ target, sources, bytes: bytesOf(sources) }];
  });
  // Small ones end soon.
  const [next] = underWay.toSorted((one, other) => one.bytes - other.bytes);
  if (next === undefined) return false;
  await mergePart(trx, runs, next, use);
  return true;
}

function bytesOf(runs: readonly SearchRunRow[]): number {
  return runs.reduce((sum, { bytes }) => sum + bytes, 0);
}

function levelOf({ bytes }: SearchRunRow): number {
  return Math.max(0, Math.floor(Math.log(bytes / SMALLEST_BYTES) / Math.log(MERGED_MIN)));
}

// Runs that follow each other in age: enough of a level, the lowest first, and smaller ones between them.
function dueGroup(runs: readonly SearchRunRow[]): SearchRunRow[] | null {
  const live = runs.filter(isLive);
  const levels = new Set(live.map(levelOf));
  for (const level of [...levels].sort((one, other) => one - other)) {
    let group: SearchRunRow[] = [];
    for (const run of live) {
      const isFree = run.merged_into === null && levelOf(run) <= level && group.length < MERGED_MAX;
      if (isFree) group.push(run);
      else if (isDue(group, level)) break;
      else group = [];
    }
    if (isDue(group, level)) return group;
  }
  return null;
}

// Several that are just below the level are as good as one of it.
function isDue(group: readonly SearchRunRow[], level: number): boolean {
  const bytesMin = level === 0 ? 0 : SMALLEST_BYTES * MERGED_MIN ** level;
  return group.length >= MERGED_MIN && bytesOf(group) >= MERGED_MIN * bytesMin;
}

// The newest runs, from the oldest one on that is too small for those after it.
function restGroup(runs: readonly SearchRunRow[]): SearchRunRow[] | null {
  const live = runs.filter(isLive);
  const underWay = live.findIndex(({ merged_into }) => merged_into !== null);
  const free = underWay < 0 ? live : live.slice(0, underWay);
  let newer = 0;
  let count = 0;
  for (const [index, { bytes }] of free.entries()) {
    if (index > 0 && bytes < Math.max(REST_BYTES, REST_RATIO * newer)) count = index + 1;
    newer += bytes;
  }
  return count > 1 ? free.slice(0, Math.min(count, MERGED_MAX)) : null;
}

async function beginMerge(
  trx: Trx,
  runs: readonly SearchRunRow[],
  group: readonly SearchRunRow[],
): Promise<SearchRunRow> {
  const [newest] = group;
  if (newest === undefined) throw new Error('no runs to merge');
  const target: SearchRunRow = {
    ...newest,
    ...{ run: nextNumber(runs), bytes: 0, is_built: 0, done: null, merged_into: null },
    low: edgeOf(
      group.map(({ low }) => low),
      -1,
    ),
    high: edgeOf(
      group.map(({ high }) => high),
      1,
    ),
  };
  await insertRun(trx, target);
  for (const one of group) await changeRun(trx, one, { merged_into: target.run });
  return target;
}

// The first or the last of some places.
function edgeOf(places: readonly Uint8Array[], sign: 1 | -1): Uint8Array {
  const [edge] = places.toSorted((one, other) => sign * Buffer.compare(other, one));
  if (edge === undefined) throw new Error('no place');
  return edge;
}

async function mergePart(
  trx: Trx,
  runs: readonly SearchRunRow[],
  { target, sources }: { target: SearchRunRow; sources: readonly SearchRunRow[] },
  { isRead }: Pick<Use, 'isRead'>,
): Promise<void> {
  // Nothing that is older has what they remove.
  const leavesOutRemoved = sources.some(({ run }) => run === runs.findLast(isLive)?.run);
  const removals = sources.reduce((sum, one) => sum + one.removals, 0);
  const { rows, done } = await mergeFrom(trx, target.org_id, {
    ...{ sources, leavesOutRemoved },
    done: target.done === null ? null : keyOfBytes(target.done),
  });
  await insertRows(trx, target.org_id, target.run, rows);
  const bytes = target.bytes + rows.reduce((sum, row) => sum + row.bytes.length, 0);
  if (done !== null) {
    if (!isRead) {
      for (const { org_id, run } of sources)
        await removeRowsBefore(trx, org_id, run, keyBytes({ ...done, run }));
    }
    const key = keyBytes({ ...done, run: target.run });
    return changeRun(trx, target, { bytes, removals, done: key });
  }
  await changeRun(trx, target, {
    ...{ bytes, removals: leavesOutRemoved ? 0 : removals, is_built: 1, done: null },
  });
  const now = Date.now();
  for (const one of sources) await changeRun(trx, one, { merged_into: target.run, gone_at: now });
}
