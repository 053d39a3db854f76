// Builds the search index of a database that an older crm has written, or builds it again.

import { sql } from 'kysely';
import { memoize } from '../cache.ts';
import { type Db, type RecordRow, type Trx, tableOf } from '../engine/schema.ts';
import { statement } from '../engine/statement.ts';
import type { Resource } from '../model/resource.ts';
import { SEARCHED_RESOURCES } from '../model/searched.ts';
import type { Filler } from './backfills.ts';
import { columnsOf } from './columns.ts';
import { IndexChanges } from './search-index.ts';
import { removeFirstLists } from './search-lists.ts';
import { placeOfId } from './search-places.ts';
import { listsOf, searchedResource, wholeList, withTranscripts } from './search-resources.ts';

// Most pieces have this many, which take about ten milliseconds; of those with long texts, fewer.
const ROWS_AT_ONCE = 200;
const READ_AT_ONCE = 20;
const PIECE_MS = 10;
const BLOCKS_AT_ONCE = 1_000;

/** Where a piece ended: the number of the resource, and the ID of the last record. */
type Place = [resource: number, after: string];

// At first, what is left from another time is removed.
const REMOVING: Place = [-1, ''];

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
    const [number, after]: Place = place === null ? REMOVING : JSON.parse(place);
    if (number === REMOVING[0]) {
      const next: Place = (await removeFirstLists(trx, orgNumber, BLOCKS_AT_ONCE)) ? REMOVING : [0, ''];
      return { place: JSON.stringify(next), records: 0 };
    }
    if (SEARCHED_RESOURCES[number] === undefined) return { place: null, records: 0 };
    const { last, records } = await indexAfter(trx, orgNumber, number, after);
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
  const endsAt = performance.now() + PIECE_MS;
  let last = after;
  let records = 0;
  while (records < ROWS_AT_ONCE && performance.now() < endsAt) {
    const found = await rowsAfter(resource)(trx, { org: orgNumber, after: last });
    for (const row of await withTranscripts(trx, resource, orgNumber, found)) {
      changes.add(
        { ...placeOfId(row.id), resource: number },
        listsOf(resource, row).add(wholeList(resource)),
      );
      last = row.id;
    }
    records += found.length;
    if (found.length < READ_AT_ONCE) {
      await changes.save(trx, orgNumber);
      return { last: null, records };
    }
  }
  await changes.save(trx, orgNumber);
  return { last, records };
}
