// What is read of a record to decide about it: only the columns that the filter and the order need.
import { sql } from 'kysely';
import { BoundedMap, memoize } from '../cache.ts';
import type { Db, RecordRow } from '../engine/schema.ts';
import { type Statement, statement, written } from '../engine/statement.ts';
import type { Resource } from '../model/resource.ts';
import { isShown } from '../model/schemas.ts';
import { longTexts } from '../tables/page-size.ts';

// Up to so many are read by themselves.
const ALONE_MAX = 2;

/**
 * The needed columns besides the ID, and, if they are many, others like them: few combinations, because each is another
 * statement to prepare.
 */
export function columnsToRead(resource: Resource, needed: ReadonlySet<string>): string[] {
  const names = [...needed].filter((name) => name !== 'id').sort();
  if (names.length <= ALONE_MAX) return names;
  const wanted = groupsOf(resource).filter((group) => group.some((name) => needed.has(name)));
  return wanted.flat();
}

// The short texts, all that is shorter, and each long text by itself.
const groupsOf = memoize((resource: Resource): readonly (readonly string[])[] => {
  const long = longTexts(resource);
  const short = Object.entries(resource.fields).filter(
    ([name, field]) => field.column !== null && isShown(field) && name !== 'id' && !long.includes(name),
  );
  const isText = (kind: string) => kind === 'text' || kind === 'email' || kind === 'domain';
  const texts = short.filter(([, { kind }]) => isText(kind)).map(([name]) => name);
  const others = short.filter(([, { kind }]) => !isText(kind)).map(([name]) => name);
  return [texts, others, ...long.map((name) => [name])];
});

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
