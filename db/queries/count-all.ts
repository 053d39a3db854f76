// Counts records without looking at them: all of the organization, or all of a user.
import { sql } from 'kysely';
import { BoundedMap } from '../cache.ts';
import type { Db } from '../engine/schema.ts';
import { type Statement, statement, written } from '../engine/statement.ts';
import type { Resource } from '../model/resource.ts';

const SHAPES_MAX = 50;
const statements = new BoundedMap<string, Statement<{ count: number }>>(SHAPES_MAX);

/** How many records there are of an owner, or of all of the organization; at most `limit`. */
export async function countAll(
  db: Db,
  { name, owner }: Resource,
  { org, ownerId, limit }: { org: number; ownerId: string | null; limit: number },
): Promise<number> {
  const column = ownerId === null ? null : owner;
  const run = statements.getOrCompute(`${name} ${column}`, () =>
    statement<{ count: number }>((db, param) => {
      const ofOwner = column === null ? sql`` : sql` and ${sql.ref(column)} = ${param('owner')}`;
      // In order, so that PostgreSQL reads an index no farther than that.
      const some = sql`select 1 from ${sql.table(name)} where org_id = ${param('org')}${ofOwner}
        order by id limit ${param('limit')}`;
      return written(db, sql<{ count: number }>`select count(*) as count from (${some}) as few`);
    }),
  );
  const [row] = await run(db, { org, owner: ownerId, limit });
  return row?.count ?? 0;
}
