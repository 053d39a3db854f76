// Finds the records at places of the search index, and those that a query identifies.

import { sql } from 'kysely';
import { memoize } from '../cache.ts';
import { type Db, type ExternalIdRow, type RecordRow, tableOf } from '../engine/schema.ts';
import { lookup, statement } from '../engine/statement.ts';
import type { Resource } from '../model/resource.ts';
import { textKey } from '../model/text.ts';
import { columnsOf, keyExpression } from './columns.ts';
import { idStart, type SearchPlace } from './search-places.ts';

const recordsAt = memoize((resource: Resource) =>
  statement<RecordRow>((db, param) => {
    // No digit comes after this letter.
    const id = sql`select record.id from ${sql.table(tableOf(resource))} as record
      where record.org_id = ${param('org')} and record.id >= given.text and record.id < given.text || 'g'
      order by record.id limit 1`;
    const ids = sql`(select (${id}) as id from ${db.engine.texts(param('starts'))} as given)`;
    return db
      .selectFrom(tableOf(resource))
      .select(columnsOf(resource))
      .$castTo<RecordRow>()
      .where('org_id', '=', param('org'))
      .where(db.engine.isIn(sql.ref('id'), ids));
  }),
);

/** The records of a resource at these places that still exist, in no order. */
export async function findRecordsAt(
  db: Db,
  resource: Resource,
  orgNumber: number,
  places: readonly SearchPlace[],
): Promise<RecordRow[]> {
  return recordsAt(resource)(db, { org: orgNumber, starts: JSON.stringify(places.map(idStart)) });
}

type Holder = Pick<ExternalIdRow, 'resource' | 'source' | 'external_id' | 'record_id'>;

const holders = lookup<Holder>((db, param, isGiven) =>
  db
    .selectFrom('external_ids')
    .select(['resource', 'source', 'external_id', 'record_id'])
    .where('org_id', '=', param('org'))
    .where(isGiven(sql.ref('external_id'))),
);

/** The records with one of these IDs in other systems, whatever the source. */
export async function findExternalIdHolders(
  db: Db,
  orgNumber: number,
  ids: readonly string[],
): Promise<Holder[]> {
  return holders(db, orgNumber, ids);
}

const byKey = memoize((resource: Resource) =>
  memoize((column: { name: string }) =>
    statement<{ id: string }>((db, param) =>
      db
        .selectFrom(tableOf(resource))
        .select('id')
        .where('org_id', '=', param('org'))
        .where(keyExpression(column.name), '=', param('key'))
        .where('id', '<=', param('last'))
        .orderBy('id', 'desc')
        .limit(param('limit')),
    ),
  ),
);

/** A column that contains an ID of another system, looked up by its key. */
export const FOREIGN_ID_COLUMNS: readonly { name: string }[] = [
  { name: 'external_id' },
  { name: 'primary_id' },
];

/**
 * The IDs of the records with that value in the column, the newest first.
 * @param range the greatest ID that is wanted, and how many
 */
export async function findByForeignId(
  db: Db,
  resource: Resource,
  column: { name: string },
  { orgNumber, value, last, limit }: { orgNumber: number; value: string; last: string; limit: number },
): Promise<string[]> {
  const rows = await byKey(resource)(column)(db, { org: orgNumber, key: textKey(value), last, limit });
  return rows.map(({ id }) => id);
}
