// The database file: how it is opened and brought up, and which files are refused with a next step.
import { Database } from 'bun:sqlite';
import { afterAll, afterEach, beforeEach, expect } from 'bun:test';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { createOrganization, listOrganizations } from '../../db/accounts/accounts.ts';
import type { Db } from '../../db/engine/schema.ts';
import { MIGRATIONS } from '../../db/migrations/index.ts';
import { DatabaseError, openStore, type Store } from '../../db/store.ts';
import { databasePaths } from '../support/folders.ts';
import { describe, test } from '../support/on-sqlite.ts';
import { makeOpenFolder } from '../support/shared-folders.ts';

const STORE = join(import.meta.dir, '../../db/store.ts');
const newPath = databasePaths();
let path = '';
let store: Store;
beforeEach(async () => {
  path = newPath();
  store = await openStore(path);
});
afterEach(() => store.close());

describe('the file', () => {
  const pragma = async (db: Db, name: string) =>
    Object.values((await sql<Record<string, unknown>>`pragma ${sql.raw(name)}`.execute(db)).rows[0] ?? {})[0];

  test('is opened with its pragmas', async () => {
    const expected = {
      ...{ journal_mode: 'wal', synchronous: 2, foreign_keys: 1, wal_autocheckpoint: 0 },
      // SQLite waits asleep, and every request with it; and a file that is cut short ends a process that maps it.
      ...{ busy_timeout: 0, mmap_size: 0 },
    };
    for (const [name, value] of Object.entries(expected))
      expect([name, await store.write('accounts', (trx) => pragma(trx, name))]).toEqual([name, value]);
    expect(await store.write('accounts', (trx) => pragma(trx, 'journal_size_limit'))).toBeGreaterThan(0);
    for (const [name, value] of Object.entries({ query_only: 1, busy_timeout: 100, mmap_size: 0 }))
      expect([name, await pragma(store.read, name)]).toEqual([name, value]);
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
      expect([table.name, /\bstrict(?:, without rowid)?$/i.test(table.sql)]).toEqual([table.name, true]);
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
    await store.write('accounts', (trx) => createOrganization(trx, 'Acme', 5));
    await store.close();
    store = await openStore(path);
    expect(await applied()).toEqual(first);
    expect((await listOrganizations(store.read)).map((row) => row.name)).toEqual(['Acme']);
  });

  test('is made by whichever of two processes comes first, and used by both', async () => {
    const shared = newPath();
    const code = `const { openStore } = await import(${JSON.stringify(STORE)});
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
    'a file in a folder that is not there': () => join(dirname(newPath()), 'nowhere', 'crm.db'),
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
      expect(error).toBeInstanceOf(DatabaseError);
      expect(error.message).toContain(file);
      expect(error.nextSteps.length).toBeGreaterThan(0);
      expect(error.message + error.nextSteps.join()).not.toMatch(/SQLITE_|ENOENT|EACCES/);
      if (before !== undefined) expect(readFileSync(file).equals(before)).toBe(true);
    });
  }

  test('a missing file that is not to be made, and none is', async () => {
    const file = newPath();
    const error = await openStore(file, { create: false }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(DatabaseError);
    expect(error.nextSteps.join()).toContain('crm init');
    expect(existsSync(file)).toBe(false);
  });

  test('a database of a newer crm, which stays as it is', async () => {
    await store.write('accounts', (trx) =>
      sql`insert into kysely_migration (name, timestamp) values ('9999-future', 'x')`.execute(trx),
    );
    await store.close();
    const before = readFileSync(path);
    const error = await openStore(path).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(DatabaseError);
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

  const open = makeOpenFolder();
  afterAll(() => open !== null && rmSync(open, { recursive: true }));
  test.skipIf(open === null)('a file that this user may only read', async () => {
    const folder = open ?? '';
    const file = join(folder, 'crm.db');
    const made = await openStore(file);
    await made.close();
    chmodSync(file, 0o444);
    // Root may write everything, so the child becomes nobody, who may not even see the sources: it has them in one piece.
    const built = await Bun.build({ entrypoints: [STORE], target: 'bun' });
    const bundle = join(folder, 'store.js');
    await Bun.write(bundle, built.outputs[0] ?? '');
    const code = `const { openStore } = await import(${JSON.stringify(bundle)});
      if (process.getuid() === 0) { process.setgid(65534); process.setuid(65534); }
      await openStore(${JSON.stringify(file)}).catch(({ name, message, nextSteps }) =>
        console.log(JSON.stringify({ name, message, steps: nextSteps.length })));`;
    const child = Bun.spawnSync([process.execPath, '-e', code], { cwd: folder });
    expect(child.stderr.toString()).toBe('');
    expect(JSON.parse(child.stdout.toString() || '"opened"')).toEqual({
      name: 'DatabaseError',
      message: `The database ${file} cannot be opened for writing.`,
      steps: 1,
    });
  });
});
