// What a search reads on PostgreSQL where the server knows little of the values in a column.
import { afterAll, beforeAll, expect } from 'bun:test';
import { sql } from 'kysely';
import { findIdentified } from '../../db/tables/search-identified.ts';
import { isPostgres } from '../support/fresh-databases.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { test } from '../support/on-postgres.ts';

const ROWS = 20_000;
// What is found, and a few entries of indexes.
const READ_MAX = 20;
// After five times a session may keep the plan of a statement.
const TIMES_UNTIL_KEPT = 6;

let harness: Harness;
beforeAll(async () => {
  if (isPostgres) harness = await startHarness();
});
afterAll(() => harness?.close());

const readSoFar = sql<{ read: number }>`
  select sum(pg_stat_get_xact_tuples_returned(oid))::bigint as read from pg_class
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'i')`;

test('a query that identifies nothing does not go through interactions, none of which has an ID of another system', async () => {
  const { store, orgNumber } = harness;
  await store.write(orgNumber, async (trx) => {
    await sql`insert into interactions (org_id, id, created_by, created_at, updated_at)
      select ${orgNumber}, lpad(to_hex(n), 8, '0') || '-0000-7000-8000-000000000000', 'k', n, n
      from generate_series(1, ${sql.lit(ROWS)}) as n`.execute(trx);
    await sql`analyze interactions`.execute(trx);
  });
  await store.write(orgNumber, async (trx) => {
    for (let times = 0; times < TIMES_UNTIL_KEPT; times++) {
      const before = (await readSoFar.execute(trx)).rows[0]?.read ?? 0;
      const found = await findIdentified(trx, orgNumber, {
        ...{ externalIds: ['absent'], email: null, domain: null, foreignId: 'absent' },
        ...{ last: 'g', limit: 21 },
      });
      const after = (await readSoFar.execute(trx)).rows[0]?.read ?? 0;
      expect(found).toEqual([]);
      expect(after - before).toBeLessThanOrEqual(READ_MAX);
    }
  });
});
