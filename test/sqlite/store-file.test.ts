// The store in its file: a disk that is full, readers that are allowed to write, what a close leaves behind.
import { afterEach, beforeEach, expect } from 'bun:test';
import { closeSync, existsSync, fstatSync, openSync, utimesSync } from 'node:fs';
import { sql } from 'kysely';
import type { Db, Trx } from '../../db/engine/schema.ts';
import { lockForServing, openStore, retryAfterSeconds, type Store } from '../../db/store.ts';
import { databasePaths } from '../support/folders.ts';
import { describe, test } from '../support/on-sqlite.ts';

const newPath = databasePaths();
let path = '';
let store: Store;
beforeEach(async () => {
  path = newPath();
  store = await openStore(path);
});
afterEach(() => store.close());

const put = (name: string) => (trx: Trx) => trx.insertInto('settings').values({ name, value: 'x' }).execute();
const namesIn = async (db: Db): Promise<string[]> =>
  (await db.selectFrom('settings').select('name').orderBy('name').execute()).map((row) => row.name);

test('that is closed is unavailable, and nothing that is asked of it is done', async () => {
  await store.close();
  for (const asked of [namesIn(store.read), store.write('accounts', put('late'))]) {
    const error: unknown = await asked.then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(retryAfterSeconds(error)).toBePositive();
  }
  store = await openStore(path);
  expect(await namesIn(store.read)).not.toContain('late');
});

test('is opened again in the midst of a transaction of the same process, as quickstart does', async () => {
  const begun = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const writing = store.write('accounts', async (trx) => {
    await put('first')(trx);
    begun.resolve();
    await opened.promise;
  });
  await begun.promise;
  const second = await openStore(path);
  opened.resolve();
  await writing;
  // The reads of a turn share a snapshot, and it may have begun as the file was opened.
  second.endSnapshot();
  expect(await namesIn(second.read)).toContain('first');
  await second.write('accounts', put('second'));
  await second.close();
  expect(await namesIn(store.read)).toContain('second');
});

describe('what is over twice', () => {
  const OTHERS = 20;

  // Files that are opened then get the numbers of those that were closed.
  async function withOthers(job: () => Promise<void> | void): Promise<void> {
    const others = Array.from({ length: OTHERS }, () => openSync('/dev/null', 'r'));
    const { rdev } = fstatSync(others[0] ?? -1);
    await job();
    expect(others.map((descriptor) => fstatSync(descriptor).rdev)).toEqual(others.map(() => rdev));
    for (const descriptor of others) closeSync(descriptor);
  }

  test('a store reads and closes no file but its own', async () => {
    await store.close();
    await withOthers(async () => {
      // A file that has changed is looked into.
      utimesSync(path, 1, 1);
      expect(await store.ready().catch(retryAfterSeconds)).toBePositive();
      await store.close();
    });
  });

  test('a lock gives back and closes no file but its own', async () => {
    const unlock = lockForServing(path, { pid: process.pid, address: 'here', since: 'now' });
    unlock();
    await withOthers(unlock);
    lockForServing(path, { pid: process.pid, address: 'here', since: 'now' })();
  });
});

describe('a full disk', () => {
  test('fails what it must, keeps what was committed, and is over when there is room', async () => {
    await store.write('accounts', put('before'));
    const pages = async (trx: Trx) => (await sql<{ n: number }>`pragma page_count`.execute(trx)).rows;
    const limit = (most: number) =>
      store.write('accounts', (trx) => sql`pragma max_page_count = ${sql.lit(most)}`.execute(trx));
    const big = (name: string) => (trx: Trx) =>
      trx
        .insertInto('settings')
        .values({ name, value: 'x'.repeat(1_000_000) })
        .execute();
    const [row] = await store.write('accounts', pages);
    await limit(Number(Object.values(row ?? {})[0]) + 2);
    expect(store.write('accounts', big('lost'))).rejects.toMatchObject({ code: 'SQLITE_FULL' });
    const [full, small] = await Promise.allSettled([
      store.write('accounts', big('lost too')),
      store.write('accounts', put('small')),
    ]);
    expect(full.status).toBe('rejected');
    // The neighbour in the group is either told that it failed, or is there.
    const names = await namesIn(store.read);
    expect(names).toEqual(small.status === 'fulfilled' ? ['before', 'small'] : ['before']);
    await limit(1_000_000);
    await store.write('accounts', big('after'));
    expect(await namesIn(store.read)).toContain('after');
  });

  test('tells jobs how they ended only once what they saw is durable', async () => {
    const told: string[] = [];
    const refused = async (trx: Trx) => {
      if ((await namesIn(trx)).includes('a')) throw new Error('a is taken');
    };
    const written = store.write('accounts', put('a'));
    const looked = store.write('accounts', refused).catch((error: Error) => void told.push(error.message));
    const full = store.write('accounts', async (trx) => {
      await put('b')(trx);
      await sql`rollback`.execute(trx);
      throw new Error('the disk is full');
    });
    const results = await Promise.allSettled([written, looked, full]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
    expect(told).toEqual(['the disk is full']);
  });
});

test('a reader cannot write, even when told that it may', async () => {
  for (const statement of ['delete from settings', 'create table x (a)', 'pragma user_version = 5']) {
    await sql.raw('pragma query_only = off').execute(store.read);
    expect(sql.raw(statement).execute(store.read)).rejects.toThrow(/readonly|read-only/);
  }
});

test('a close leaves nothing in a log that a copy of the file would miss', async () => {
  const queued = ['a', 'b'].map((name) => store.write('accounts', put(name)));
  await Promise.all([...queued, store.close()]);
  expect([existsSync(`${path}-wal`), existsSync(`${path}-shm`)]).toEqual([false, false]);
  store = await openStore(path);
  expect(await namesIn(store.read)).toEqual(['a', 'b']);
});
