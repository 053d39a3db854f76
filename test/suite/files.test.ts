// Which tests run on PostgreSQL too: what chooses its database runs on both engines, the rest on one.
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { ALONE, byPlace, findTestFiles, LONGEST, reaches } from './files.ts';

const ROOT = join(import.meta.dir, '../..');
const { sqlite, postgres, servers } = findTestFiles(ROOT);

test('every test file runs', () => {
  const all = [...new Bun.Glob('test/**/*.test.{ts,tsx}').scanSync(ROOT)];
  const run = new Set([sqlite, postgres, servers].flatMap(({ parallel, alone }) => [...parallel, ...alone]));
  expect([...run].toSorted()).toEqual(all.toSorted());
  expect(sqlite.alone).toEqual(ALONE.toSorted());
  expect(all).toEqual(expect.arrayContaining(LONGEST));
});

test('parts of paths choose among them', () => {
  const found = findTestFiles(ROOT, ['test/sqlite/wr', 'v1/people.test', 'document.test']);
  expect(found).toEqual({
    sqlite: {
      parallel: ['test/openapi/document.test.ts', 'test/v1/people.test.ts'],
      alone: ['test/sqlite/write-lock.test.ts'],
    },
    postgres: { parallel: ['test/v1/people.test.ts'], alone: [] },
    servers: { parallel: [], alone: [] },
  });
});

describe('on PostgreSQL too', () => {
  test.each([
    'test/v1/people.test.ts',
    'test/v2/contacts.test.ts',
    'test/cli/keys.test.ts',
    'test/copy/copy.test.ts',
    'test/import/again.test.ts',
    'test/import/resume.test.ts',
    'test/ingest/command.test.ts',
    'test/model/model.test.ts',
    'test/pipeline/boundaries.test.ts',
    'test/pipeline/credentials.test.ts',
    'test/pipeline/fuzz.test.ts',
    'test/pipeline/idempotency.test.ts',
    'test/pipeline/limits.test.ts',
    'test/pipeline/quota.test.ts',
    'test/store/store.test.ts',
  ])('runs %s', (path) => {
    expect(sqlite.parallel).toContain(path);
    expect(postgres.parallel).toContain(path);
  });

  test.each([
    'test/architecture.test.ts',
    'test/cli/records.test.ts',
    'test/cli/signals.test.ts',
    'test/clients/sync.test.ts',
    'test/import/foreign-files.test.ts',
    'test/import/parse.test.ts',
    'test/import/progress.test.tsx',
    'test/openapi/docs-words.test.ts',
    'test/openapi/document.test.ts',
    'test/pipeline/refusals.test.ts',
    'test/quickstart/quickstart.test.ts',
    'test/readers/threads.test.ts',
    'test/sqlite/files.test.ts',
  ])('does not run %s', (path) => {
    expect(sqlite.parallel).toContain(path);
    expect(postgres.parallel).not.toContain(path);
  });
});

test('what is about the disk has its files there, everything else in memory', () => {
  const { inMemory, onDisk } = byPlace(sqlite);
  expect(onDisk.parallel).toContain('test/sqlite/backup.test.ts');
  expect(onDisk.alone).toEqual(['test/sqlite/full-disk.test.ts', 'test/sqlite/write-lock.test.ts']);
  expect(inMemory.parallel).toContain('test/v2/contacts.test.ts');
  for (const kind of ['parallel', 'alone'] as const)
    expect([...inMemory[kind], ...onDisk[kind]].toSorted()).toEqual(sqlite[kind].toSorted());
});

test.each(['test/nodes/faults.test.ts', 'test/postgres/commands.test.ts', 'test/manual/postgres.test.ts'])(
  '%s, which starts servers of its own, runs once',
  (path) => {
    expect(servers.parallel).toContain(path);
    expect([...sqlite.parallel, ...postgres.parallel]).not.toContain(path);
  },
);

test('what only PostgreSQL can runs there alone', () => {
  for (const path of ['test/nodes/limits.test.ts', 'test/postgres/rows-read.test.ts']) {
    expect(sqlite.parallel).not.toContain(path);
    expect(postgres.parallel).toContain(path);
  }
});

test('a module reaches what its imports import, in circles too', () => {
  const imports: Record<string, string[]> = { a: ['b'], b: ['c', 'a'], c: ['b'], d: [] };
  const importsOf = (path: string) => imports[path] ?? [];
  expect(['a', 'b', 'c', 'd'].map((path) => reaches(path, 'c', importsOf))).toEqual([
    true,
    true,
    true,
    false,
  ]);
});
