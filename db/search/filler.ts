// Builds the search index of a database that an older crm has written, or builds it again.

import { sql } from 'kysely';
import { memoize } from '../cache.ts';
import { type Db, type RecordRow, type Trx, tableOf } from '../engine/schema.ts';
import { statement } from '../engine/statement.ts';
import { TimeSlices } from '../event-loop.ts';
import type { Resource } from '../model/resource.ts';
import { SEARCHED_RESOURCES } from '../model/searched.ts';
import type { Filler } from '../tables/backfills.ts';
import { columnsOf } from '../tables/columns.ts';
import { IndexChanges } from './additions.ts';
import { mergeUnread, RUNS_WHILE_INDEXING } from './merges.ts';
import { placeOfId } from './places.ts';
import { RecordLists } from './record-lists.ts';
import { searchedResource, withTranscripts } from './resources.ts';
import { endRuns } from './runs.ts';

// They take about fifteen milliseconds; those with long texts are fewer.
const ROWS_AT_ONCE = 500;
const ENTRIES_AT_ONCE = 20_000;
const READ_AT_ONCE = 50;
const MERGES_AT_ONCE = 4;

/** Where a piece ended: the number of the resource, and the ID of the last record. */
type Place = [resource: number, after: string];

// At first, what is left from another time is given up.
const BEGINNING: Place = [-1, ''];
const FIRST: Place = [0, ''];

const rowsAfter = memoize((resource: Resource) =>
  statement<RecordRow>((db, param) =>
    db
      .selectFrom(tableOf(resource))
      .select(columnsOf(resource))
      .$castTo<RecordRow>()
      .where('org_id', '=', param('org'))
      .where('id', '>', param('after'))
      .orderBy('id')
      .limit(sql.lit(READ_AT_ONCE)),
  ),
);

export const searchFiller: Filler = {
  title: 'search index',
  async count(db, orgNumber) {
    let total = 0;
    for (const name of SEARCHED_RESOURCES) total += await countRecords(db, orgNumber, name);
    return total;
  },
  async fill(trx, orgNumber, place) {
    const [number, after]: Place = place === null ? BEGINNING : JSON.parse(place);
    if (number === BEGINNING[0]) {
      await endRuns(trx, orgNumber);
      return { place: JSON.stringify(FIRST), records: 0 };
    }
    if (SEARCHED_RESOURCES[number] === undefined) {
      const isMore = await mergeUnread(trx, orgNumber);
      return { place: isMore ? place : null, records: 0 };
    }
    const { last, records } = await indexAfter(trx, orgNumber, number, after);
    for (let merges = 0; merges < MERGES_AT_ONCE; merges++)
      if (!(await mergeUnread(trx, orgNumber, RUNS_WHILE_INDEXING))) break;
    const next: Place = last === null ? [number + 1, ''] : [number, last];
    return { place: JSON.stringify(next), records };
  },
};

async function countRecords(db: Db, orgNumber: number, name: string): Promise<number> {
  const query = db.selectFrom(tableOf({ name })).select((eb) => eb.fn.countAll<number>().as('total'));
  return Number((await query.where('org_id', '=', orgNumber).executeTakeFirst())?.total ?? 0);
}

// The ID of the last record is null if there are no more of the resource.
async function indexAfter(
  trx: Trx,
  orgNumber: number,
  number: number,
  after: string,
): Promise<{ last: string | null; records: number }> {
  const resource = searchedResource(number);
  const changes = new IndexChanges();
  const turns = new TimeSlices();
  const lists = new RecordLists(changes, turns);
  let last = after;
  let records = 0;
  let isMore = true;
  while (isMore && records < ROWS_AT_ONCE && changes.size < ENTRIES_AT_ONCE) {
    const found = await rowsAfter(resource)(trx, { org: orgNumber, after: last });
    for (const row of await withTranscripts(trx, resource, orgNumber, found)) {
      await lists.add({ ...placeOfId(row.id), resource: number }, resource, row);
      last = row.id;
      if (turns.isOver) await turns.next();
    }
    records += found.length;
    isMore = found.length === READ_AT_ONCE;
  }
  await changes.save(trx, orgNumber);
  return { last: isMore ? last : null, records };
}
