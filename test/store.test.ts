// The store: durable jobs in groups, reads that cannot write, and database files that are refused with a next step.
import { Database } from 'bun:sqlite';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { createOrganization, listOrganizations } from '../db/accounts.ts';
import { MIGRATIONS } from '../db/migrations/index.ts';
import { attempt } from '../db/savepoint.ts';
import type { Db } from '../db/schema.ts';
import { DatabaseFileError } from '../db/sqlite.ts';
import { openStore, type Store } from '../db/store.ts';

const root = mkdtempSync(join(tmpdir(), 'crm-test-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
function newPath(): string {
  count += 1;
  mkdirSync(join(root, String(count)));
  return join(root, String(count), 'crm.db');
}

let path = '';
let store: Store;
beforeEach(async () => {
  path = newPath();
  store = await openStore(path);
});
afterEach(() => store.close());

const put = (name: string) => (trx: Db) => trx.insertInto('settings').values({ name, value: 'x' }).execute();
const namesIn = async (db: Db): Promise<string[]> =>
  (await db.selectFrom('settings').select('name').orderBy('name').execute()).map((row) => row.name);

describe('jobs', () => {
  test('that arrive together are committed together', async () => {
    const seenWhenFirstIsDone = store.write(put('a')).then(() => namesIn(store.read));
    const others = ['b', 'c', 'd'].map((name) => store.write(put(name)));
    expect(await seenWhenFirstIsDone).toEqual(['a', 'b', 'c', 'd']);
    await Promise.all(others);
  });

  test('run one after another, each seeing what went before', async () => {
    const order: string[] = [];
    const jobs = ['a', 'b', 'c'].map((name) =>
      store.write(async (trx) => {
        order.push(`${name} begins`);
        await put(name)(trx);
        await Bun.sleep(0);
        order.push(`${name} sees ${(await namesIn(trx)).join('')}`);
      }),
    );
    await Promise.all(jobs);
    expect(order).toEqual(['a begins', 'a sees a', 'b begins', 'b sees ab', 'c begins', 'c sees abc']);
  });

  test('give their results, in whatever number they come', async () => {
    const results = await Promise.all(
      Array.from({ length: 500 }, (_, index) =>
        store.write(async (trx) => {
          await put(`n${String(index).padStart(3, '0')}`)(trx);
          return index;
        }),
      ),
    );
    expect(results).toEqual(Array.from({ length: 500 }, (_, index) => index));
    expect(await namesIn(store.read)).toHaveLength(500);
  });

  test('that fail harm only themselves', async () => {
    const failing = async (trx: Db) => {
      await put('lost')(trx);
      throw new Error('on purpose');
    };
    const conflicting = async (trx: Db) => {
      await put('also lost')(trx);
      await put('a')(trx);
    };
    const results = await Promise.allSettled([
      store.write(put('a')),
      store.write(failing),
      store.write(put('b')),
      store.write(conflicting),
      store.write(() => Promise.reject(new Error('at once'))),
      store.write(put('c')),
    ]);
    expect(results.map((result) => result.status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
    ]);
    expect((results[1] as PromiseRejectedResult).reason.message).toBe('on purpose');
    expect(await namesIn(store.read)).toEqual(['a', 'b', 'c']);
  });

  test('that leave a savepoint open harm nobody else', async () => {
    const results = await Promise.allSettled([
      store.write(put('a')),
      store.write(async (trx) => {
        await sql`savepoint forgotten`.execute(trx);
        await put('lost')(trx);
        throw new Error('on purpose');
      }),
      store.write(put('b')),
    ]);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await namesIn(store.read)).toEqual(['a', 'b']);
  });

  test('are not seen by readers before they are durable', async () => {
    const entered = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();
    const job = store.write(async (trx) => {
      await put('a')(trx);
      entered.resolve();
      await leave.promise;
    });
    await entered.promise;
    expect(await namesIn(store.read)).toEqual([]);
    leave.resolve();
    await job;
    expect(await namesIn(store.read)).toEqual(['a']);
    const elsewhere = new Database(path, { readonly: true });
    expect(elsewhere.query('select name from settings').all()).toEqual([{ name: 'a' }]);
    elsewhere.close();
  });

  test('parts of them can fail by themselves', async () => {
    await store.write(async (trx) => {
      await put('before')(trx);
      const part = attempt(trx, async () => {
        await put('part')(trx);
        await attempt(trx, () => put('inner')(trx));
        throw new Error('on purpose');
      });
      expect(part).rejects.toThrow('on purpose');
      await part.catch(() => undefined);
      expect(await attempt(trx, () => put('kept')(trx).then(() => 5))).toBe(5);
      await put('after')(trx);
    });
    expect(await namesIn(store.read)).toEqual(['after', 'before', 'kept']);
  });

  test('queued at close are finished, later ones refused', async () => {
    const queued = ['a', 'b'].map((name) => store.write(put(name)));
    const closing = store.close();
    expect(store.write(put('late'))).rejects.toThrow('closed');
    await Promise.all([...queued, closing]);
    // Nothing is left in a log that a copy of the file would miss.
    expect([existsSync(`${path}-wal`), existsSync(`${path}-shm`)]).toEqual([false, false]);
    store = await openStore(path);
    expect(await namesIn(store.read)).toEqual(['a', 'b']);
  });
});

describe('a full disk', () => {
  test('fails what it must, keeps what was committed, and is over when there is room', async () => {
    await store.write(put('before'));
    const pages = async (trx: Db) => (await sql<{ n: number }>`pragma page_count`.execute(trx)).rows;
    const limit = (most: number) =>
      store.write((trx) => sql`pragma max_page_count = ${sql.lit(most)}`.execute(trx));
    const big = (name: string) => (trx: Db) =>
      trx
        .insertInto('settings')
        .values({ name, value: 'x'.repeat(1_000_000) })
        .execute();
    const [row] = await store.write(pages);
    await limit(Number(Object.values(row ?? {})[0]) + 2);
    expect(store.write(big('lost'))).rejects.toMatchObject({ code: 'SQLITE_FULL' });
    const [full, small] = await Promise.allSettled([store.write(big('lost too')), store.write(put('small'))]);
    expect(full.status).toBe('rejected');
    // The neighbour in the group is either told that it failed, or is there.
    const names = await namesIn(store.read);
    expect(names).toEqual(small.status === 'fulfilled' ? ['before', 'small'] : ['before']);
    await limit(1_000_000);
    await store.write(big('after'));
    expect(await namesIn(store.read)).toContain('after');
  });
});

describe('the reading side', () => {
  test('cannot write, even when told that it may', async () => {
    expect(put('a')(store.read)).rejects.toThrow(/readonly|read-only/);
    for (const statement of ['delete from settings', 'create table x (a)', 'pragma user_version = 5']) {
      await sql.raw('pragma query_only = off').execute(store.read);
      expect(sql.raw(statement).execute(store.read)).rejects.toThrow(/readonly|read-only/);
    }
    expect(await namesIn(store.read)).toEqual([]);
  });

  test('sees what another process has committed, with the next turn', async () => {
    expect(await namesIn(store.read)).toEqual([]);
    const other = await openStore(path);
    await other.write(put('theirs'));
    expect(await namesIn(store.read)).toEqual(['theirs']);
    await other.close();
  });
});

describe('the file', () => {
  const pragma = async (db: Db, name: string) =>
    Object.values((await sql<Record<string, unknown>>`pragma ${sql.raw(name)}`.execute(db)).rows[0] ?? {})[0];

  test('is opened with its pragmas', async () => {
    const expected = { journal_mode: 'wal', synchronous: 2, foreign_keys: 1, busy_timeout: 5_000 };
    for (const [name, value] of Object.entries(expected))
      expect([name, await store.write((trx) => pragma(trx, name))]).toEqual([name, value]);
    expect(await store.write((trx) => pragma(trx, 'journal_size_limit'))).toBeGreaterThan(0);
    expect([await pragma(store.read, 'query_only'), await pragma(store.read, 'busy_timeout')]).toEqual([
      1, 5_000,
    ]);
  });

  test('is for its owner alone', () => {
    for (const suffix of ['', '-wal', '-shm']) expect(statSync(path + suffix).mode & 0o077).toBe(0);
  });

  test('has strict tables, each keyed by organization first', async () => {
    const { rows } = await sql<{ name: string; sql: string }>`
      select name, sql from sqlite_schema where type = 'table' and name not like 'sqlite_%'
    `.execute(store.read);
    const own = rows.filter(({ name }) => !name.startsWith('kysely_'));
    expect(own.length).toBeGreaterThan(20);
    for (const table of own) {
      expect([table.name, /\bstrict$/i.test(table.sql)]).toEqual([table.name, true]);
      if (['organizations', 'settings'].includes(table.name)) continue;
      const { rows: columns } = await sql<{ name: string }>`
        select name from pragma_table_info(${table.name}) where pk = 1
      `.execute(store.read);
      expect([table.name, columns[0]?.name]).toEqual([table.name, 'org_id']);
    }
  });

  test('comes up from nothing by every migration, once', async () => {
    const applied = async () =>
      (await sql<{ name: string }>`select name from kysely_migration order by name`.execute(store.read)).rows;
    const first = await applied();
    expect(first.map((row) => row.name)).toEqual(Object.keys(MIGRATIONS));
    await store.write((trx) => createOrganization(trx, 'Acme', 5));
    await store.close();
    store = await openStore(path);
    expect(await applied()).toEqual(first);
    expect((await listOrganizations(store.read)).map((row) => row.name)).toEqual(['Acme']);
  });

  test('is made by whichever of two processes comes first, and used by both', async () => {
    const shared = newPath();
    const code = `const { openStore } = await import(${JSON.stringify(join(import.meta.dir, '../db/store.ts'))});
      await (await openStore(${JSON.stringify(shared)})).close();`;
    const spawn = () => Bun.spawn([process.execPath, '-e', code], { stderr: 'pipe', stdout: 'ignore' });
    const children = [spawn(), spawn()];
    for (const child of children)
      expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, '']);
  });
});

describe('refused with a next step', () => {
  const make: Record<string, (file: string) => string | undefined> = {
    'a text': (file) => void writeFileSync(file, 'name,email\nAda,ada@example.com\n'.repeat(50)),
    'a short text': (file) => void writeFileSync(file, 'hello'),
    'noise behind the mark of SQLite': (file) =>
      void writeFileSync(file, Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(5_000, 0xa5)])),
    "another program's database": (file) => {
      const other = new Database(file);
      other.run('create table recipes (name text)');
      other.close();
    },
    "another program's empty database": (file) => {
      const other = new Database(file);
      other.run('pragma application_id = 12345');
      other.run('pragma user_version = 3');
      other.close();
    },
    'a folder': (file) => void mkdirSync(file),
    'a file in a folder that is not there': () => join(root, 'nowhere', 'crm.db'),
    'a file in a place that takes none': () => '/proc/crm.db',
    'a file below a file': (file) => {
      writeFileSync(file, '');
      return join(file, 'crm.db');
    },
  };
  for (const [name, prepare] of Object.entries(make)) {
    test(name, async () => {
      const made = newPath();
      const file = prepare(made) ?? made;
      const before = existsSync(file) && statSync(file).isFile() ? readFileSync(file) : undefined;
      const error = await openStore(file).catch((thrown) => thrown);
      expect(error).toBeInstanceOf(DatabaseFileError);
      expect(error.message).toContain(file);
      expect(error.nextSteps.length).toBeGreaterThan(0);
      expect(error.message + error.nextSteps.join()).not.toMatch(/SQLITE_|ENOENT|EACCES/);
      if (before !== undefined) expect(readFileSync(file).equals(before)).toBe(true);
    });
  }

  test('a missing file that is not to be made, and none is', async () => {
    const file = newPath();
    const error = await openStore(file, { create: false }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(DatabaseFileError);
    expect(error.nextSteps.join()).toContain('crm init');
    expect(existsSync(file)).toBe(false);
  });

  test('a database of a newer crm, which stays as it is', async () => {
    await store.write((trx) =>
      sql`insert into kysely_migration (name, timestamp) values ('9999-future', 'x')`.execute(trx),
    );
    await store.close();
    const before = readFileSync(path);
    const error = await openStore(path).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(DatabaseFileError);
    expect(error.message).toContain('9999-future');
    expect(readFileSync(path).equals(before)).toBe(true);
    const database = new Database(path);
    database.run("delete from kysely_migration where name = '9999-future'");
    database.close();
    store = await openStore(path);
  });

  test('an empty file is not refused: it becomes a database', async () => {
    const file = newPath();
    writeFileSync(file, '');
    const opened = await openStore(file);
    await opened.close();
    expect(statSync(file).size).toBeGreaterThan(0);
  });

  test('a file that this user may only read', async () => {
    await store.close();
    chmodSync(path, 0o444);
    chmodSync(root, 0o755);
    for (const suffix of ['', '/..']) chmodSync(path.slice(0, path.lastIndexOf('/')) + suffix, 0o777);
    // Root may write everything, so the child becomes nobody.
    const code = `const { openStore } = await import(${JSON.stringify(join(import.meta.dir, '../db/store.ts'))});
      if (process.getuid() === 0) { process.setgid(65534); process.setuid(65534); }
      await openStore(${JSON.stringify(path)}).catch(({ name, message, nextSteps }) =>
        console.log(JSON.stringify({ name, message, steps: nextSteps.length })));`;
    const child = Bun.spawnSync([process.execPath, '-e', code]);
    expect(JSON.parse(child.stdout.toString() || '"opened"')).toEqual({
      name: 'DatabaseFileError',
      message: `The database ${path} cannot be opened for writing.`,
      steps: 1,
    });
    chmodSync(path, 0o600);
    store = await openStore(path);
  });
});
