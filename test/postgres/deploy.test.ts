// What operators copy from db/postgres/deploy: the script for Citus names every table and asks of it what Citus can do.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '../../db/store.ts';
import { PostgresServer, postgresPrograms } from '../support/postgres.ts';

const LONG = 300_000;

const script = readFileSync(join(import.meta.dir, '../../db/postgres/deploy/citus.sql'), 'utf8');
const named = (before: string) =>
  [...script.matchAll(new RegExp(`^${before}'?([a-z_]+)`, 'gm'))].map((match) => match[1] ?? '');
const reference = named('select create_reference_table\\(');
const distributed = named('select create_distributed_table\\(');
const local = named('-- stays on the coordinator: ');

describe.skipIf(postgresPrograms === null)('the script for Citus', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
    const store = await openStore(server.address(), { create: true });
    await store.close();
  }, LONG);
  afterAll(() => server.close());

  test('names every table, once', async () => {
    const tables = await server.sql("select tablename from pg_tables where schemaname = 'public'");
    const all = [...reference, ...distributed, ...local];
    expect(all.toSorted()).toEqual(tables.map(({ tablename }) => String(tablename)).toSorted());
  });

  test('spreads tables by a column that all of their unique keys have', async () => {
    const keys = await server.sql(`
      select indrelid::regclass::text as held_by, array_agg(attname::text) as columns
      from pg_index join pg_attribute on attrelid = indrelid and attnum = any (indkey::int2[])
      where indisunique and indrelid::regclass::text not like 'pg\\_%' group by indexrelid, indrelid`);
    const spread = keys.filter((key) => distributed.includes(String(key.held_by)));
    expect(spread.length).toBeGreaterThanOrEqual(distributed.length);
    for (const { held_by, columns } of spread)
      expect([held_by, columns]).toEqual([held_by, expect.arrayContaining(['org_id'])]);
  });

  test('leaves no foreign key that Citus cannot hold', async () => {
    const references = await foreignKeys(server);
    expect(references.length).toBeGreaterThan(20);
    for (const { held_by, target, definition } of references) {
      expect(local).not.toContain(held_by);
      expect(local).not.toContain(target);
      if (reference.includes(held_by)) expect(reference).toContain(target);
      else if (distributed.includes(target)) expect(definition).toMatch(/\(org_id, .*\(org_id, /);
    }
  });

  test('runs, where what Citus brings does nothing, and gives back every foreign key', async () => {
    const before = await foreignKeys(server);
    await server.sql(`
      create function create_reference_table(regclass) returns void language sql as '';
      create function create_distributed_table(regclass, text, colocate_with text default '') returns void language sql as ''`);
    await server.sql(`begin; ${script}; commit`);
    expect(await foreignKeys(server)).toEqual(before);
  });
});

async function foreignKeys(
  server: PostgresServer,
): Promise<{ held_by: string; target: string; definition: string }[]> {
  const rows = await server.sql(`
    select conrelid::regclass::text as held_by, confrelid::regclass::text as target, pg_get_constraintdef(oid) as definition
    from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace order by 1, 2, 3`);
  return rows.map((row) => ({
    held_by: String(row.held_by),
    target: String(row.target),
    definition: String(row.definition),
  }));
}
