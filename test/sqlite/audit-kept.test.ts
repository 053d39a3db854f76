// The audit log through backups and copies: its entries and what protects them go along, and each tells where it came from.
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ndjson, Sandbox } from '../support/command.ts';

const sandbox = new Sandbox();
beforeAll(async () => {
  await sandbox.ok(['init', '--org', 'Acme', '--user', 'ada@acme.example']);
});
afterAll(() => sandbox[Symbol.dispose]());

const newest = async (db: string) =>
  ndjson(await sandbox.ok(['audit', 'list', '--db', db, '--limit', '1', '-o', 'ndjson']))[0];

const isProtected = (db: string): boolean => {
  using file = new Database(sandbox.path(db));
  try {
    file.run('DELETE FROM audit_log');
    return false;
  } catch (error) {
    return String(error).includes('only added to');
  }
};

test('a restored database names its backup, and keeps its audit entries', async () => {
  await sandbox.ok(['backup', 'backup.db', '--quiet']);
  expect(isProtected('backup.db')).toBe(true);
  const { taken_at } = JSON.parse(
    await sandbox.ok(['restore', 'backup.db', '--confirm', '--quiet', '-o', 'json']),
  );
  expect(await newest('crm.db')).toMatchObject({
    ...{ action: 'backup.restored', actor_type: 'operator', org_id: null, target_type: null },
    details: { taken_at, file: expect.stringMatching(/\/backup\.db$/) },
  });
  expect(isProtected('crm.db')).toBe(true);
});

test('a copy tells of what it is one, and its original nothing', async () => {
  const before = await newest('crm.db');
  await sandbox.ok(['migrate', '--from', 'crm.db', '--to', 'copy.db', '--quiet']);
  expect(await newest('copy.db')).toMatchObject({
    ...{ action: 'data.migrated', actor_type: 'operator', org_id: null },
    details: { from: 'crm.db', rows: expect.any(Number) },
  });
  expect(await newest('crm.db')).toEqual(before);
  expect(isProtected('copy.db')).toBe(true);
});
