// Which statistics PostgreSQL collects of its tables: of those that fill up, and of those that somebody else has filled.
import { afterAll, beforeAll, expect } from 'bun:test';
import { sql } from 'kysely';
import { bulkInsert } from '../../db/engine/bulk-insert.ts';
import { statement, written } from '../../db/engine/statement.ts';
import { openStore } from '../../db/store.ts';
import { dropDatabase, freshDatabase, isPostgres } from '../support/fresh-databases.ts';
import { describe, test } from '../support/on-postgres.ts';
import { until } from '../support/until.ts';

describe('statistics', () => {
  let address = '';
  let admin: Bun.SQL;
  beforeAll(async () => {
    if (!isPostgres) return;
    address = await freshDatabase();
    admin = new Bun.SQL(address, { max: 1 });
    for (const table of ['users', 'segments'])
      await admin.unsafe(`alter table ${table} set (autovacuum_enabled = off)`);
  });
  afterAll(async () => {
    await admin?.close();
    if (isPostgres) await dropDatabase(address);
  });

  /** As how many rows the planner takes a table for, and whether it knows their values. */
  async function known(table: string): Promise<{ rows: number; hasValues: boolean }> {
    const [row] = await admin`
      select reltuples::int as rows, exists (select from pg_stats where tablename = ${table}) as "hasValues"
      from pg_class where relname = ${table}`;
    return row;
  }

  async function becomes(table: string, rows: number): Promise<void> {
    // Others see the number of rows before the values, which they see once ANALYZE is committed.
    await until(async () => Bun.deepEquals(await known(table), { rows, hasValues: true }));
  }

  test('a table that fills up is looked at again and again, at ever more rows', async () => {
    const insert = bulkInsert('segments', ['org_id', 'id', 'created_by', 'created_at', 'updated_at', 'name']);
    const store = await openStore(address);
    let made = 0;
    const write = (count: number) =>
      store.write('accounts', async (trx) => {
        const row = { org_id: 1, created_by: 'u', created_at: 0, updated_at: 0, name: 'S' };
        const rows = Array.from({ length: count }, () => ({ ...row, id: `s${made++}` }));
        await insert(trx, rows);
      });
    await write(99);
    await write(1);
    await becomes('segments', 100);
    await write(300);
    await becomes('segments', 400);
    await write(1_200);
    await becomes('segments', 1_600);
    await store.close();
  });

  test('the space of removed rows is made free once they are a tenth of the table', async () => {
    await admin.unsafe(`insert into segments (org_id, id, created_by, created_at, updated_at, name)
      select 2, n, 'u', 0, 0, 'S' from generate_series(1, 20000) as n`);
    await admin.unsafe('analyze segments');
    const remove = statement<never>((db, param) =>
      written(
        db,
        sql<never>`delete from "segments" where org_id = 2
          and id in (select id from segments where org_id = 2 limit ${param('count')})`,
      ),
    );
    const vacuums = async () =>
      (await admin`select pg_stat_get_vacuum_count('segments'::regclass)::int as count`)[0].count;
    const store = await openStore(address);
    const removing = (count: number) =>
      store.write('accounts', async (trx) => void (await remove(trx, { count })));
    await removing(1_000);
    await removing(500);
    expect(await vacuums()).toBe(0);
    await removing(1_000);
    await until(async () => (await vacuums()) > 0);
    expect(await vacuums()).toBe(1);
    await store.close();
  });

  test('a table that was restored from a dump, whose values nobody knows, is looked at when it is opened', async () => {
    await admin.unsafe(`insert into users (org_id, id, email, email_key, created_at)
      select 1, n, n, n, 0 from generate_series(1, 1000) as n`);
    // From the index that is made after the rows it has their number, and no more.
    await admin.unsafe('reindex table users');
    expect(await known('users')).toEqual({ rows: 1_000, hasValues: false });
    const store = await openStore(address);
    await store.close();
    expect(await known('users')).toEqual({ rows: 1_000, hasValues: true });
  });
});
