// `crm restore` of what is no backup: it names the file that was given, what is wrong with it, and what to do; nothing is changed.
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect } from 'bun:test';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { Sandbox } from '../support/command.ts';
import { test } from '../support/on-sqlite.ts';

const LONG = 300_000;
const sandbox = new Sandbox();
let before: Buffer;

const changed = (name: string, change: (database: Database) => void) => {
  copyFileSync(sandbox.path('good.db'), sandbox.path(name));
  const database = new Database(sandbox.path(name));
  change(database);
  database.close();
};

beforeAll(async () => {
  await sandbox.ok(['init', '--org', 'Example']);
  await sandbox.ok(['backup', 'good.db', '--quiet']);
  before = readFileSync(sandbox.path('crm.db'));
}, LONG);
afterAll(() => sandbox[Symbol.dispose]());

const rows: [name: string, code: number, said: string, next: string, make: (path: string) => void][] = [
  [
    'cut.db',
    1,
    'cut.db is truncated: it has 60,000 of ',
    'complete backup again',
    (path) => {
      copyFileSync(sandbox.path('good.db'), path);
      truncateSync(path, 60_000);
    },
  ],
  [
    'stub.db',
    1,
    'stub.db is truncated after 50 bytes.',
    'complete backup again',
    (path) => {
      copyFileSync(sandbox.path('good.db'), path);
      truncateSync(path, 50);
    },
  ],
  ['empty.db', 1, 'empty.db is empty.', 'use another one', (path) => writeFileSync(path, '')],
  [
    'accounts.csv',
    1,
    'accounts.csv is a text file, not a backup.',
    'crm import RESOURCE accounts.csv',
    (path) => writeFileSync(path, 'Name,Email\nÄda,ada@example.com\n'),
  ],
  [
    'other.db',
    1,
    'other.db is an SQLite database that belongs to another program.',
    'crm backup FILE',
    (path) => {
      const other = new Database(path, { create: true });
      other.run('CREATE TABLE things (name TEXT)');
      other.close();
    },
  ],
  [
    'crm.db.gz',
    1,
    'crm.db.gz is compressed (gzip).',
    'gunzip --keep crm.db.gz',
    (path) => writeFileSync(path, gzipSync(readFileSync(sandbox.path('good.db')))),
  ],
  [
    'noise.db',
    1,
    'noise.db is not an SQLite database.',
    'crm backup FILE',
    (path) => writeFileSync(path, Buffer.from([0, 1, 2, 255, 254, ...Array(500).keys()])),
  ],
  ['folder', 2, 'folder is not a file.', 'crm backup FILE', (path) => mkdirSync(path)],
  ['nowhere.db', 2, 'File not found: nowhere.db', 'crm backup FILE', () => undefined],
  [
    'newer.db',
    1,
    'newer.db was written by a newer crm (it has the migration 9999-later).',
    'Use the newer crm, or restore a backup',
    () =>
      changed('newer.db', (database) =>
        database.run("INSERT INTO kysely_migration VALUES ('9999-later', '2030-01-01')"),
      ),
  ],
  [
    'harmed.db',
    1,
    'harmed.db is damaged: ',
    'Use an older backup',
    (path) => {
      const bytes = readFileSync(sandbox.path('good.db'));
      bytes.fill(7, 30_000, 90_000);
      writeFileSync(path, bytes);
    },
  ],
  [
    'edited.db',
    1,
    'edited.db is damaged: the content of organizations differs from what was copied',
    'Use an older backup',
    () => changed('edited.db', (database) => database.run("UPDATE organizations SET name = 'Else'")),
  ],
];

for (const [name, code, said, next, make] of rows) {
  test(
    `${name} is refused by its own name`,
    async () => {
      make(sandbox.path(name));
      const names = readdirSync(sandbox.folder).toSorted();
      const { code: ended, stderr } = await sandbox.crm(['restore', name, '--confirm', '--quiet']);
      expect([ended, stderr]).toEqual([code, expect.stringContaining(`crm: ${said}`)]);
      expect(stderr).toContain(next);
      expect(stderr).not.toContain('crm-part');
      expect(stderr).not.toContain('./crm.db');
      const left = readdirSync(sandbox.folder).filter((one) => !one.startsWith('crm.db-serving'));
      expect(left.toSorted()).toEqual(names.filter((one) => !one.startsWith('crm.db-serving')));
      expect(readFileSync(sandbox.path('crm.db')).equals(before)).toBe(true);
    },
    LONG,
  );
}

test(
  'nothing is left where there was no database, and what was there before stays',
  async () => {
    changed('edited.db', (database) => database.run("UPDATE organizations SET name = 'Else'"));
    const names = readdirSync(sandbox.folder).toSorted();
    const restore = () => sandbox.crm(['restore', 'edited.db', '--confirm', '--quiet', '--db', 'new.db']);
    expect((await restore()).code).toBe(1);
    expect(readdirSync(sandbox.folder).toSorted()).toEqual(names);
    await sandbox.ok(['restore', 'good.db', '--confirm', '--quiet', '--db', 'new.db']);
    expect((await restore()).code).toBe(1);
    expect(readdirSync(sandbox.folder)).toContain('new.db-serving');
  },
  LONG,
);
