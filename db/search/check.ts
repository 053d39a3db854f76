// Compares the search index with a sample of the records, and begins to build it again.

import { sql } from 'kysely';
import { memoize } from '../cache.ts';
import { type Db, type RecordRow, type Trx, tableOf } from '../engine/schema.ts';
import { statement } from '../engine/statement.ts';
import { TimeSlices } from '../event-loop.ts';
import type { Resource } from '../model/resource.ts';
import { SEARCHED_RESOURCES } from '../model/searched.ts';
import { beginBackfill, isFilled } from '../tables/backfills.ts';
import { columnsOf } from '../tables/columns.ts';
import { smallestId } from '../tables/record-id.ts';
import { IndexChanges } from './additions.ts';
import { REMOVED } from './blocks.ts';
import { entryAt } from './columns.ts';
import { findParts } from './parts.ts';
import { findPendingIds } from './pending.ts';
import { placeOfId, type SearchPlace } from './places.ts';
import { RecordLists } from './record-lists.ts';
import { searchedResource, withTranscripts } from './resources.ts';
import { findLiveRuns } from './runs.ts';

/** The name of the part of the database with the index, in `FILLERS`. */
export const SEARCH_PART = 'search';

/** How the index of an organization compares with its records. */
export interface IndexComparison {
  /** How many records were compared. */
  records: number;
  /** How many of them the index does not have as they are. */
  faulty: number;
}

const RECORDS_MAX = 20;
const LAST_ID = smallestId(Number.MAX_SAFE_INTEGER);

const samplesOf = memoize((resource: Resource) => {
  const records = (db: Db) =>
    db.selectFrom(tableOf(resource)).select(columnsOf(resource)).$castTo<RecordRow>();
  return {
    oldest: statement<RecordRow>((db, param) =>
      records(db).where('org_id', '=', param('org')).orderBy('id').limit(1),
    ),
    newestUpTo: statement<RecordRow>((db, param) =>
      records(db)
        .where('org_id', '=', param('org'))
        .where('id', '<=', param('last'))
        .orderBy('id', 'desc')
        .limit(sql.lit(RECORDS_MAX)),
    ),
  };
});

/** Compares some records of each resource with the index: the newest, and others from anywhere. */
export async function compareIndex(db: Db, orgNumber: number): Promise<IndexComparison> {
  const result = { records: 0, faulty: 0 };
  if (!(await isFilled(db, orgNumber, SEARCH_PART))) return result;
  const turns = new TimeSlices();
  const pending = new Set(await findPendingIds(db, orgNumber));
  for (const number of SEARCHED_RESOURCES.keys()) {
    const resource = searchedResource(number);
    const samples = samplesOf(resource);
    const [first] = await samples.oldest(db, { org: orgNumber });
    if (first === undefined) continue;
    const newest = await samples.newestUpTo(db, { org: orgNumber, last: LAST_ID });
    const { created_at: end } = newest[0] ?? first;
    const instant = Math.floor(first.created_at + Math.random() * (end - first.created_at));
    const others = await samples.newestUpTo(db, { org: orgNumber, last: smallestId(instant) });
    const rows = [...newest, ...others].filter(({ id }) => !pending.has(id));
    for (const row of await withTranscripts(db, resource, orgNumber, rows)) {
      const place = placeOfId(row.id);
      const changes = new IndexChanges();
      await new RecordLists(changes, turns).add({ ...place, resource: number }, resource, row);
      result.records += 1;
      if (!(await areIn(db, orgNumber, [...changes.lists], place))) result.faulty += 1;
    }
  }
  return result;
}

async function areIn(
  db: Db,
  orgNumber: number,
  lists: readonly string[],
  place: SearchPlace,
): Promise<boolean> {
  const runs = await findLiveRuns(db, orgNumber);
  const wanted = lists.flatMap((list) => runs.map(({ run }) => ({ run, list, place })));
  const parts = await findParts(db, orgNumber, wanted);
  return lists.every((_, index) => {
    const ofList = parts.slice(index * runs.length, (index + 1) * runs.length);
    // The newest run that says something.
    const entry = ofList.map((part) => part && entryAt(part.entries, place)).find((one) => one != null);
    return entry != null && entry.resource !== REMOVED;
  });
}

/** Begins to build the index of an organization again, which a server then does. */
export function rebuildIndex(trx: Trx, orgNumber: number): Promise<void> {
  return beginBackfill(trx, orgNumber, SEARCH_PART);
}
