// What is read of a record to decide about it: only the columns that the filter and the order need.
import { sql } from 'kysely';
import { BoundedMap } from '../cache.ts';
import type { Db, RecordRow } from '../engine/schema.ts';
import { type Statement, statement, written } from '../engine/statement.ts';
import type { Resource } from '../model/resource.ts';

const SHAPES_MAX = 200;
const statements = new BoundedMap<string, Statement<RecordRow>>(SHAPES_MAX);

/** The ID and these columns, as SQL. */
export function columnList(columns: readonly string[]) {
  return sql.join(['id', ...columns].map((name) => sql.ref(name)));
}

/** These columns of the records with the IDs, in no order; those that do not exist are left out. */
export async function readColumnsOf(
  db: Db,
  { name }: Resource,
  org: number,
  columns: readonly string[],
  ids: readonly string[],
): Promise<RecordRow[]> {
  if (ids.length === 0) return [];
  const run = statements.getOrCompute([name, ...columns].join(), () =>
    statement<RecordRow>((db, param) =>
      written(
        db,
        sql<RecordRow>`select ${columnList(columns)} from ${sql.table(name)}
          where org_id = ${param('org')} and ${db.engine.isAmong(sql.ref('id'), param('ids'))}`,
      ),
    ),
  );
  return run(db, { org, ids: JSON.stringify(ids) });
}
