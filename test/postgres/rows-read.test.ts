// How PostgreSQL finds what it is asked for: it reads that and little else, as soon as tables fill up and when it knows them well.
import { afterAll, beforeAll, expect } from 'bun:test';
import { sql } from 'kysely';
import type { Db } from '../../db/schema.ts';
import { openStore, type Store } from '../../db/store.ts';
import { createOrganization } from '../../db/tables/accounts.ts';
import { crowd, MANY, ROWS, type Run } from '../support/crowd.ts';
import { dropDatabase, freshDatabase, isPostgres } from '../support/fresh-databases.ts';
import { describe, test } from '../support/on-postgres.ts';
import { QUESTIONS, type Question } from '../support/questions.ts';

// Those that share two values are found by what shares one, or by both at once.
const MANY_READ_MAX = 2 * MANY;
// Else a page is read off an index, or a few of them.
const PAGE_READ_MAX = MANY / 2;
// After five times a session may keep the plan of a statement.
const TIMES_UNTIL_KEPT = 6;

// Rows that were gone through, and entries of indexes.
const readSoFar = sql<{ read: number }>`
  select sum(pg_stat_get_xact_tuples_returned(oid))::bigint as read from pg_class
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'i')`;

const NEVER_BY_ITSELF = `
  do $$ declare name text; begin
    for name in select tablename from pg_tables where schemaname = 'public' loop
      execute format('alter table %I set (autovacuum_enabled = off)', name);
    end loop;
  end $$`;

let address = '';
let store: Store;
let orgId = 0;

// Always over the same connection, which keeps its plans.
const onConnection = <T>(job: (db: Db) => Promise<T>) => store.write('accounts', job);

/** The most that is read for one of the forms of a question. */
function mostRead(forms: Question['forms']): Promise<number> {
  return onConnection(async (db) => {
    const read = async () => (await readSoFar.execute(db)).rows[0]?.read ?? 0;
    let most = 0;
    let before = await read();
    for (const ask of forms) {
      await ask(db, orgId);
      const after = await read();
      most = Math.max(most, after - before);
      before = after;
    }
    return most;
  });
}

const run: Run = (text) => onConnection(async (db) => (await sql<object>`${sql.raw(text)}`.execute(db)).rows);

/** Resolves once the server knows about how many rows each of the tables has. */
async function known(tables: readonly string[]): Promise<void> {
  const names = tables.map((name) => `'${name}'`).join();
  const unknown = `select relname from pg_class where relname in (${names}) and reltuples < ${ROWS}`;
  while ((await run(unknown)).length > 0) await Bun.sleep(20);
}

beforeAll(async () => {
  if (!isPostgres) return;
  address = await freshDatabase();
  await onServer(
    `alter database ${new URL(address).pathname.slice(1)} set session_replication_role = replica`,
  );
  // The server by itself would come sooner or later.
  await onServer(NEVER_BY_ITSELF);
  store = await openStore(`${address}?writers=1`);
  const make = (name: string) => onConnection((trx) => createOrganization(trx, name, 0));
  const orgIds = [(await make('Acme')).number, (await make('Other')).number];
  orgId = orgIds[0] ?? 0;
  // Plans are made, and kept, while every table is empty.
  await onConnection(async (db) => {
    for (const { forms } of QUESTIONS) {
      for (const ask of forms.slice(0, 2))
        for (let times = 0; times < TIMES_UNTIL_KEPT; times++) await ask(db, orgId);
    }
  });
  await known(await crowd(run, orgIds));
}, 60_000);
afterAll(async () => {
  await store?.close();
  if (isPostgres) await dropDatabase(address);
});

async function onServer(text: string): Promise<void> {
  const admin = new Bun.SQL(address, { max: 1 });
  await admin.unsafe(text);
  await admin.close();
}

for (const state of ['filled by the store alone', 'analyzed']) {
  describe(state, () => {
    beforeAll(async () => {
      if (state === 'analyzed') await onServer('analyze');
    });
    for (const { title, forms, maySort, maySift } of QUESTIONS) {
      test(title, async () => {
        expect(await mostRead(forms)).toBeLessThanOrEqual(maySort || maySift ? MANY_READ_MAX : PAGE_READ_MAX);
      });
    }
  });
}
