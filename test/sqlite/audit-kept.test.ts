// The audit log through backups and copies: its entries and what protects them go along, and each tells where it came from.
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Desk, ndjson } from '../support/command.ts';

const desk = new Desk();
beforeAll(async () => {
  await desk.ok(['init', '--org', 'Acme', '--user', 'ada@acme.example']);
});
afterAll(() => desk[Symbol.dispose]());

const newest = async (db: string) =>
  ndjson(await desk.ok(['audit', 'list', '--db', db, '--limit', '1', '-o', 'ndjson']))[0];

const isProtected = (db: string): boolean => {
  using file = new Database(desk.path(db));
  try {
    file.run('DELETE FROM audit_log');
    return false;
  } catch (error) {
    return String(error).includes('only added to');
  }
};

test('a database that is put back tells from which backup, and keeps its entries as any other', async () => {
  await desk.ok(['backup', 'backup.db', '--quiet']);
  expect(isProtected('backup.db')).toBe(true);
  const { taken_at } = JSON.parse(
    await desk.ok(['restore', 'backup.db', '--confirm', '--quiet', '-o', 'json']),
  );
  expect(await newest('crm.db')).toMatchObject({
    ...{ action: 'backup.restored', actor_type: 'operator', org_id: null, target_type: null },
    details: { taken_at, file: expect.stringMatching(/\/backup\.db$/) },
  });
  expect(isProtected('crm.db')).toBe(true);
});

test('a copy tells of what it is one, and its original nothing', async () => {
  const before = await newest('crm.db');
  await desk.ok(['migrate', '--from', 'crm.db', '--to', 'copy.db', '--quiet']);
  expect(await newest('copy.db')).toMatchObject({
    ...{ action: 'data.migrated', actor_type: 'operator', org_id: null },
    details: { from: 'crm.db', rows: expect.any(Number) },
  });
  expect(await newest('crm.db')).toEqual(before);
  expect(isProtected('copy.db')).toBe(true);
});
