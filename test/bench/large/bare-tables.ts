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
// Those of a key are part of it.
const POSTGRES_INDEXES = `
  select indexname as name, indexdef as made from pg_indexes
  where schemaname = 'public' and tablename in (TABLES)
  and not exists (select 1 from pg_constraint where conname = indexname and connamespace = 'public'::regnamespace)`;
// To sort in memory; nobody else looks at the file yet.
const FAST = ['pragma cache_size = -500000', 'pragma temp_store = memory', 'pragma synchronous = off'];

/** Drops the indexes of tables, does a job, and makes the indexes again. */
export async function withoutIndexes<T>(
  address: string,
  tables: readonly string[],
  job: () => Promise<T>,
): Promise<T> {
  const isServer = isDatabaseAddress(address);
  const names = tables.map((table) => `'${table}'`).join();
  const text = (isServer ? POSTGRES_INDEXES : SQLITE_INDEXES).replace('TABLES', names);
  const on = isServer ? onServer : onFile;
  const indexes = await on(address, async (run) => {
    const found = (await run(text)) as unknown as Index[];
    await run(...found.map(({ name }) => `drop index ${name}`));
    return found;
  });
  const result = await job();
  await on(address, (run) => run(...indexes.map(({ made }) => made)));
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
