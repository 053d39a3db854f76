// Tables without their indexes while they are filled in: to sort all values once takes a fraction of what single entries do.
import { Database } from 'bun:sqlite';
import { SQL } from 'bun';
import { isDatabaseAddress } from '../../../db/database-address.ts';

/** Runs statements on a database, one after another, and gives the rows of the last one. */
type Run = (...statements: readonly string[]) => Promise<Record<string, unknown>[]>;

interface Index {
  name: string;
  /** The statement that makes it. */
  made: string;
}

const SQLITE_INDEXES = `
  select name, sql as made from sqlite_schema
  where type = 'index' and sql is not null and tbl_name in (TABLES)`;
// They go with an index, and without those that crm writes its queries would be planned otherwise.
const SQLITE_STATISTICS = `
  select 'insert into sqlite_stat1 values (' || quote(tbl) || ', ' || quote(idx) || ', ' || quote(stat) || ')' as made
  from sqlite_stat1 where tbl in (TABLES)`;
// Those of a key are part of it.
const POSTGRES_INDEXES = `
  select indexname as name, indexdef as made from pg_indexes
  where schemaname = 'public' and tablename in (TABLES)
  and not exists (select 1 from pg_constraint where conname = indexname and connamespace = 'public'::regnamespace)`;
// To sort in memory; nobody else looks at the file yet.
const FAST = ['pragma cache_size = -500000', 'pragma temp_store = memory', 'pragma synchronous = off'];

/** Drops the indexes of tables, does a job, and makes the indexes again, with what the planner knows of them. */
export async function withoutIndexes<T>(
  address: string,
  tables: readonly string[],
  job: () => Promise<T>,
): Promise<T> {
  const isServer = isDatabaseAddress(address);
  const names = tables.map((table) => `'${table}'`).join();
  const text = (isServer ? POSTGRES_INDEXES : SQLITE_INDEXES).replace('TABLES', names);
  const on = isServer ? onServer : onFile;
  const again = await on(address, async (run) => {
    const statistics = isServer ? [] : await run(SQLITE_STATISTICS.replace('TABLES', names));
    const indexes = (await run(text)) as unknown as Index[];
    await run(...indexes.map(({ name }) => `drop index ${name}`));
    const left = isServer ? [] : [`delete from sqlite_stat1 where tbl in (${names})`];
    return [...indexes.map(({ made }) => made), ...left, ...statistics.map(({ made }) => String(made))];
  });
  const result = await job();
  await on(address, (run) => run(...again));
  return result;
}

async function onFile<T>(path: string, job: (run: Run) => Promise<T>): Promise<T> {
  using db = new Database(path);
  for (const text of FAST) db.run(text);
  return await job(async (...statements) => {
    let rows: Record<string, unknown>[] = [];
    for (const text of statements) rows = db.prepare<Record<string, unknown>, []>(text).all();
    return rows;
  });
}

async function onServer<T>(address: string, job: (run: Run) => Promise<T>): Promise<T> {
  const db = new SQL(address, { max: 1 });
  try {
    return await job(async (...statements) => {
      let rows: Record<string, unknown>[] = [];
      for (const text of statements) rows = await db.unsafe(text);
      return rows;
    });
  } finally {
    await db.close({ timeout: 0 });
  }
}
