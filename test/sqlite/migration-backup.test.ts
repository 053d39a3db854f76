// A file of an older crm: copied before its tables are changed, and used with what they have since.
import { Database } from 'bun:sqlite';
import { expect } from 'bun:test';
import { readdirSync, statSync } from 'node:fs';
import { Sandbox } from '../support/command.ts';
import { expectExternalIds } from '../support/external-ids.ts';
import { startHarness } from '../support/harness.ts';
import { makeOlderFile, OLDER_ROWS } from '../support/older-file.ts';
import { expectOlderLinks } from '../support/older-links.ts';
import { describe, test } from '../support/on-sqlite.ts';

const migrationsOf = (path: string) => {
  using file = new Database(path, { readonly: true });
  return file.query<{ name: string }, []>('select name from kysely_migration order by name').all().length;
};

const backupsOf = (sandbox: Sandbox) =>
  readdirSync(sandbox.folder).filter((name) => name.includes('.before-'));

test('records of an older file can get external IDs', async () => {
  using sandbox = new Sandbox();
  await makeOlderFile(sandbox.database, { lacking: '0006-external-ids', rows: OLDER_ROWS });
  const harness = await startHarness({ db: sandbox.database });
  await expectExternalIds(harness);
  await harness.close();
});

test('links of an older file are listed', async () => {
  using sandbox = new Sandbox();
  await makeOlderFile(sandbox.database, { lacking: '0007-links-in-bulk', rows: OLDER_ROWS });
  const harness = await startHarness({ db: sandbox.database });
  await expectOlderLinks(harness);
  await harness.close();
});

describe('before an older file is brought up to date', () => {
  test('init makes a backup beside it, says so, and makes none again', async () => {
    using sandbox = new Sandbox();
    const lacking = await makeOlderFile(sandbox.database);
    const { code, stderr } = await sandbox.crm(['init', '--org', 'Example']);
    expect(code).toBe(0);
    const name = `crm.db.before-${lacking}`;
    expect(backupsOf(sandbox)).toEqual([name]);
    expect(stderr).toContain(`Backed up to ./${name} `);
    expect(migrationsOf(sandbox.path(name))).toBe(1);
    expect(migrationsOf(sandbox.database)).toBeGreaterThan(1);
    expect(statSync(sandbox.path(name)).mode & 0o777).toBe(0o600);
    await sandbox.ok(['init', '--org', 'Another']);
    expect(backupsOf(sandbox)).toHaveLength(1);
  });

  test('serve does so, under a name that is free, and what it made can be restored', async () => {
    using sandbox = new Sandbox();
    const lacking = await makeOlderFile(sandbox.database);
    await sandbox.write(`crm.db.before-${lacking}`, 'of another time');
    const server = await sandbox.serve();
    await sandbox.ok(['orgs', 'create', 'Example']);
    const { stderr } = await server.stop();
    expect(stderr).toContain(`Backed up to ./crm.db.before-${lacking}.2 `);
    expect(await sandbox.read(`crm.db.before-${lacking}`)).toBe('of another time');
    await sandbox.ok(['restore', `crm.db.before-${lacking}.2`, '--confirm']);
    expect(await sandbox.ok(['orgs', 'list', '-o', 'csv'])).not.toContain('Example');
  });

  test.each([
    ['init', (sandbox: Sandbox) => sandbox.ok(['init', '--org', 'Example', '--no-backup'])],
    ['serve', async (sandbox: Sandbox) => (await sandbox.serve(['--no-backup'])).stop()],
  ])('%s --no-backup makes none', async (_, run) => {
    using sandbox = new Sandbox();
    await makeOlderFile(sandbox.database);
    await run(sandbox);
    expect(backupsOf(sandbox)).toEqual([]);
    expect(migrationsOf(sandbox.database)).toBeGreaterThan(1);
  });

  test('one that cannot be made leaves the file as it was, and says how to go on', async () => {
    using sandbox = new Sandbox();
    await makeOlderFile(sandbox.database);
    // A page in the middle of the file is not what it was.
    const bytes = new Uint8Array(await Bun.file(sandbox.database).arrayBuffer());
    bytes.fill(0xff, 3 * 4_096, 6 * 4_096);
    await Bun.write(sandbox.database, bytes);
    const { code, stderr } = await sandbox.crm(['init', '--org', 'Example']);
    expect(code).toBe(1);
    expect(stderr).toContain('Could not back up ./crm.db before its upgrade');
    expect(stderr).toContain('--no-backup');
    expect(backupsOf(sandbox)).toEqual([]);
  });

  test('a new file needs none', async () => {
    using sandbox = new Sandbox();
    await sandbox.ok(['init', '--org', 'Example']);
    expect(backupsOf(sandbox)).toEqual([]);
  });
});
