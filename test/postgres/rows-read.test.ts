// How PostgreSQL finds what it is asked for: it reads that and little else, as soon as tables fill up and when it knows them well.
import { afterAll, beforeAll, expect } from 'bun:test';
import { sql } from 'kysely';
import { createOrganization } from '../../db/accounts/accounts.ts';
import { actingAs } from '../../db/engine/acting.ts';
import { OPERATOR } from '../../db/engine/author.ts';
import type { Trx } from '../../db/engine/schema.ts';
import { openStore, type Store } from '../../db/store.ts';
import { dropDatabase, freshDatabase, isPostgres } from '../support/fresh-databases.ts';
import { fillTables, MANY, ROWS, type Run } from '../support/many-rows.ts';
import { describe, test } from '../support/on-postgres.ts';
import { QUERY_QUESTIONS } from '../support/query-questions.ts';
import { QUESTIONS, type Question } from '../support/table-queries.ts';

const ASKED = [...QUESTIONS, ...QUERY_QUESTIONS];

// Those that share two values are found by what shares one, or by both at once.
const MANY_READ_MAX = 2 * MANY;
// Else a page is read off an index, or a few of them.
const PAGE_READ_MAX = MANY / 2;
// Two tables of it whole, and what the one has of the other.
const JOINED_READ_MAX = 2 * ROWS + 2 * MANY;
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
const orgIds: number[] = [];

const UNDONE = new Error('undone');

/** Asks always over the same connection, which keeps its plans, and leaves nothing written. */
async function asking(job: (db: Trx) => Promise<void>): Promise<void> {
  const done = store.write('accounts', async (db) => {
    await job(db);
    throw UNDONE;
  });
  await done.catch((error) => {
    if (error !== UNDONE) throw error;
  });
}

/** The most that is read for one of the forms of a question. */
async function mostRead(forms: Question['forms'], orgNumber: number): Promise<number> {
  let most = 0;
  await asking(async (db) => {
    const read = async () => (await readSoFar.execute(db)).rows[0]?.read ?? 0;
    let before = await read();
    for (const ask of forms) {
      await ask(actingAs(db, OPERATOR), orgNumber);
      const after = await read();
      most = Math.max(most, after - before);
      before = after;
    }
  });
  return most;
}

/** Fills an organization, and resolves once the server knows of its rows in every table. */
async function addOrganization(name: string): Promise<void> {
  const { number } = await store.write('accounts', (trx) => createOrganization(trx, name, 0));
  orgIds.push(number);
  const run: Run = (text) =>
    store.write(number, async (db) => (await sql<object>`${sql.raw(text)}`.execute(db)).rows);
  const tables = await fillTables(run, number);
  const unknown = `
    select relname from pg_class left join pg_stats on tablename = relname and attname = 'org_id'
    where relname in (${tables.map((table) => `'${table}'`).join()}) and coalesce(
      most_common_freqs[array_position(most_common_vals::text::bigint[], ${number})] * reltuples < ${ROWS / 4}, true)`;
  while ((await run(unknown)).length > 0) await Bun.sleep(20);
}

async function onServer(text: string): Promise<void> {
  const admin = new Bun.SQL(address, { max: 1 });
  await admin.unsafe(text);
  await admin.close();
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
  // Plans are made, and kept, while every table is empty.
  await asking(async (db) => {
    for (const { forms } of ASKED) {
      for (const ask of forms.slice(0, 2))
        for (let times = 0; times < TIMES_UNTIL_KEPT; times++) await ask(actingAs(db, OPERATOR), 1);
    }
  });
}, 300_000);
afterAll(async () => {
  await store?.close();
  if (isPostgres) await dropDatabase(address);
});

const STATES: Record<string, () => Promise<void>> = {
  'of the first organization, filled by the store alone': () => addOrganization('First'),
  'of one that comes later': () => addOrganization('Later'),
  'of one in a database that was analyzed as a whole': () => onServer('analyze'),
};

for (const [state, prepare] of Object.entries(STATES)) {
  describe(state, () => {
    beforeAll(() => (isPostgres ? prepare() : undefined), 300_000);
    for (const { title, forms, maySort, maySift, mayJoin, readsAll } of ASKED) {
      test(title, async () => {
        const most = await mostRead(forms, orgIds.at(-1) ?? 0);
        const narrowed = maySort || maySift ? MANY_READ_MAX : PAGE_READ_MAX;
        expect(most).toBeLessThanOrEqual(mayJoin || readsAll ? JOINED_READ_MAX : narrowed);
      });
    }
  });
}
