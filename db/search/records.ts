// Finds the records at places of the search index.

import { sql } from 'kysely';
import { memoize } from '../cache.ts';
import { type Db, type RecordRow, tableOf } from '../engine/schema.ts';
import { statement } from '../engine/statement.ts';
import type { Resource } from '../model/resource.ts';
import { columnsOf } from '../tables/columns.ts';
import { idStart, type SearchPlace } from './places.ts';

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
