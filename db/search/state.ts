// What a search must know of the index before it reads it: its runs, and what they do not have yet, as of the same moment.

import { sql } from 'kysely';
import type { Db } from '../engine/schema.ts';
import type { PendingRecord, SearchPendingRow } from '../engine/search-rows.ts';
import { statement, written } from '../engine/statement.ts';
import { SEARCH_PART } from './check.ts';
import { type Run, type RunPlaces, runsInOrder } from './runs.ts';

/** The records that the index does not have as they are now. */
export interface PendingRecords {
  /** By the numbers of their resources; whether they exist or not. */
  ids: ReadonlyMap<number, ReadonlySet<string>>;
  count: number;
}

export interface SearchState {
  /** Whether the index has the records that were there before it was. */
  isFilled: boolean;
  /** Null if they are too many, or in too many rows. */
  pending: PendingRecords | null;
  /** The newest first. */
  runs: readonly Run[];
}

// A run, a row of what is pending, or the note that the index is not filled.
type StateRow =
  | (RunPlaces & { records: null })
  | ({ run: null } & Pick<SearchPendingRow, 'records'> & { entries: string | null })
  | { run: null; records: null };

// One statement: what is not pending any longer when it is read must be in one of the runs.
const state = statement<StateRow>((db, param) => {
  const pending = sql`from search_pending where org_id = ${param('org')} order by id limit ${param('limit')}`;
  const total = sql`(select cast(sum(records) as bigint) from (select records ${pending}) as counted)`;
  return written(
    db,
    sql<StateRow>`select run, age, low, high, ${db.engine.rowVersion} as version, null as records, null as entries
      from search_runs
      where org_id = ${param('org')} and is_built = 1 and gone_at is null
      union all select null, null, null, null, null, records, case when ${total} <= ${param('max')} then entries end
      from (select records, entries ${pending}) as noted
      union all select null, null, null, null, null, null, null from backfills
      where org_id = ${param('org')} and name = ${param('part')}`,
  );
});

/**
 * The runs of the index, and the records that it does not have as they are now.
 * @param max of such records, and of the rows that name them
 */
export async function findSearchState(db: Db, orgNumber: number, max: number): Promise<SearchState> {
  const rows = await state(db, { org: orgNumber, limit: max + 1, max, part: SEARCH_PART });
  const runs: RunPlaces[] = [];
  const ids = new Map<number, Set<string>>();
  let count = 0;
  let isFilled = true;
  for (const row of rows) {
    if (row.run !== null) runs.push(row);
    else if (row.records === null) isFilled = false;
    else {
      count += row.records;
      // Not there if they are too many.
      for (const [resource, id] of JSON.parse(row.entries ?? '[]') as PendingRecord[])
        ids.getOrInsertComputed(resource, () => new Set()).add(id);
    }
  }
  return { isFilled, pending: count > max ? null : { ids, count }, runs: runsInOrder(runs) };
}
