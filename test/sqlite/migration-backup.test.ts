// A file of an older crm is copied before its tables are changed.
import { Database } from 'bun:sqlite';
import { expect } from 'bun:test';
import { readdirSync, statSync } from 'node:fs';
import { Desk } from '../support/command.ts';
import { makeOlderFile } from '../support/older-file.ts';
import { describe, test } from '../support/on-sqlite.ts';

const migrationsOf = (path: string) => {
  using file = new Database(path, { readonly: true });
  return file.query<{ name: string }, []>('select name from kysely_migration order by name').all().length;
};

const backupsOf = (desk: Desk) => readdirSync(desk.folder).filter((name) => name.includes('.before-'));

describe('before an older file is brought up to date', () => {
  test('init makes a backup beside it, says so, and makes none again', async () => {
    using desk = new Desk();
    const lacking = await makeOlderFile(desk.database);
    const { code, stderr } = await desk.crm(['init', '--org', 'Example']);
    expect(code).toBe(0);
    const name = `crm.db.before-${lacking}`;
    expect(backupsOf(desk)).toEqual([name]);
    expect(stderr).toContain(`Backed up to ./${name} `);
    expect(migrationsOf(desk.path(name))).toBe(1);
    expect(migrationsOf(desk.database)).toBeGreaterThan(1);
    expect(statSync(desk.path(name)).mode & 0o777).toBe(0o600);
    await desk.ok(['init', '--org', 'Another']);
    expect(backupsOf(desk)).toHaveLength(1);
  });

  test('serve does so, under a name that is free, and what it made can be restored', async () => {
    using desk = new Desk();
    const lacking = await makeOlderFile(desk.database);
    await desk.write(`crm.db.before-${lacking}`, 'of another time');
    const server = await desk.serve();
    await desk.ok(['orgs', 'create', 'Example']);
    const { stderr } = await server.stop();
    expect(stderr).toContain(`Backed up to ./crm.db.before-${lacking}.2 `);
    expect(await desk.read(`crm.db.before-${lacking}`)).toBe('of another time');
    await desk.ok(['restore', `crm.db.before-${lacking}.2`, '--confirm']);
    expect(await desk.ok(['orgs', 'list', '-o', 'csv'])).not.toContain('Example');
  });

  test.each([
    ['init', (desk: Desk) => desk.ok(['init', '--org', 'Example', '--no-backup'])],
    ['serve', async (desk: Desk) => (await desk.serve(['--no-backup'])).stop()],
  ])('%s --no-backup makes none', async (_, run) => {
    using desk = new Desk();
    await makeOlderFile(desk.database);
    await run(desk);
    expect(backupsOf(desk)).toEqual([]);
    expect(migrationsOf(desk.database)).toBeGreaterThan(1);
  });

  test('one that cannot be made leaves the file as it was, and says how to go on', async () => {
    using desk = new Desk();
    await makeOlderFile(desk.database);
    // A page in the middle of the file is not what it was.
    const bytes = new Uint8Array(await Bun.file(desk.database).arrayBuffer());
    bytes.fill(0xff, 3 * 4_096, 6 * 4_096);
    await Bun.write(desk.database, bytes);
    const { code, stderr } = await desk.crm(['init', '--org', 'Example']);
    expect(code).toBe(1);
    expect(stderr).toContain('Could not back up ./crm.db before its upgrade');
    expect(stderr).toContain('--no-backup');
    expect(backupsOf(desk)).toEqual([]);
  });

  test('a new file needs none', async () => {
    using desk = new Desk();
    await desk.ok(['init', '--org', 'Example']);
    expect(backupsOf(desk)).toEqual([]);
  });
});
