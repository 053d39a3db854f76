// Bytes of a text in a file: what a row has, what SQLite let go of within a page and in pages, and what is in the log alone.
import { Database } from 'bun:sqlite';
import { afterAll, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBytes } from '../../db/sqlite/byte-search.ts';

const folder = mkdtempSync(join(tmpdir(), 'crm-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

let path = '';
let database: Database;
beforeEach(() => {
  path = join(folder, `${crypto.randomUUID()}.db`);
  database = new Database(path, { create: true });
  database.run('PRAGMA secure_delete = OFF');
  database.run('CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT)');
});

const add = (text: string) => database.run('INSERT INTO texts (text) VALUES (?)', [text]);
const parts = (...texts: string[]) => findBytes(path, texts).map(({ part }) => part);

test('what a row has is used, in whatever case; nothing is found of what is not there', () => {
  add('to Ada@X.org');
  expect(parts('ada@x.org', 'bob@x.org')).toEqual(['used']);
  expect(parts('bob@x.org')).toEqual([]);
  database.close();
});

test('what was deleted is free: of a page in use, and of pages', () => {
  for (let count = 0; count < 40; count++) add(`${count} of ada@x.org ${'-'.repeat(200)}`);
  add('the last of ada@x.org');
  database.run("DELETE FROM texts WHERE text NOT LIKE 'the last%' AND id % 2 = 0");
  expect(new Set(parts('ada@x.org'))).toEqual(new Set(['used', 'free']));
  database.run('DELETE FROM texts');
  expect(new Set(parts('ada@x.org'))).toEqual(new Set(['free']));
  database.run('PRAGMA secure_delete = ON');
  database.run('VACUUM');
  expect(parts('ada@x.org')).toEqual([]);
  database.close();
});

test('a long row is used over all its pages, and free once it is gone', () => {
  const text = `${'x'.repeat(50_000)} ada@x.org ${'y'.repeat(50_000)}`;
  add(text);
  expect(parts('ada@x.org')).toEqual(['used']);
  database.run('DELETE FROM texts');
  expect(parts('ada@x.org')).toEqual(['free']);
  database.close();
});

test('what is in the log alone is found there, with its place', () => {
  database.run('PRAGMA journal_mode = WAL');
  database.run('PRAGMA wal_autocheckpoint = 0');
  add('ada@x.org');
  const [found, ...others] = findBytes(path, ['ada@x.org']);
  expect([others, found?.part, found?.file]).toEqual([[], 'log', expect.stringMatching(/-wal$/)]);
  database.run('PRAGMA wal_checkpoint(TRUNCATE)');
  expect(parts('ada@x.org')).toEqual(['used']);
  database.close();
});
