// On a read-only file system: what only reads reads the database as it is, its log included, and says so; the rest says why not.
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect } from 'bun:test';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { COMMAND, Sandbox } from '../support/command.ts';
import { describe, test } from '../support/on-sqlite.ts';

const LONG = 300_000;
// The folder `ro` of where it runs, in a name space of the command's own.
const MOUNT = 'mount --bind "$PWD/ro" "$PWD/ro" && mount -o remount,ro,bind "$PWD/ro" && exec "$@"';
const ways = [
  ['unshare', '-m'],
  ['unshare', '-rm'],
];
const canMount = (way: string[]): boolean => {
  using sandbox = new Sandbox();
  mkdirSync(sandbox.path('ro'));
  const touching = [...way, 'bash', '-c', MOUNT, 'bash', 'bash', '-c', 'echo mounted; touch ro/x'];
  if (Bun.which('unshare') === null) return false;
  const { stdout, exitCode } = Bun.spawnSync(touching, { cwd: sandbox.folder, stderr: 'ignore' });
  return stdout.toString() === 'mounted\n' && exitCode !== 0;
};
const way = process.platform === 'linux' ? ways.find(canMount) : undefined;
if (way === undefined)
  console.log('Nothing can be mounted here: what is read on a read-only file system is not tried.');

describe.skipIf(way === undefined)('a database on a read-only file system', () => {
  const sandbox = new Sandbox([...(way ?? []), 'bash', '-c', MOUNT, 'bash', ...COMMAND]);
  const SAID = 'is on a read-only file system: opening it read-only.';
  beforeAll(async () => {
    mkdirSync(sandbox.path('ro'));
    mkdirSync(sandbox.path('temporary'));
    sandbox.env.TMPDIR = sandbox.path('temporary');
    using plain = new Sandbox();
    await plain.ok(['init', '--org', 'Acme', '--user', 'ada@acme.example']);
    copyFileSync(plain.path('crm.db'), sandbox.path('ro/closed.db'));
    // As a server that was killed leaves them, with its log's index, and as they are copied, without it.
    const database = new Database(plain.path('crm.db'));
    database.run('PRAGMA wal_autocheckpoint = 0');
    database.run("UPDATE organizations SET name = 'In the log', name_key = 'in the log'");
    for (const suffix of ['', '-wal', '-shm'])
      copyFileSync(plain.path(`crm.db${suffix}`), sandbox.path(`ro/killed.db${suffix}`));
    for (const suffix of ['', '-wal'])
      copyFileSync(plain.path(`crm.db${suffix}`), sandbox.path(`ro/copied.db${suffix}`));
    database.close();
    for (const name of readdirSync(sandbox.path('ro'))) chmodSync(sandbox.path(`ro/${name}`), 0o600);
  }, LONG);
  afterAll(() => sandbox[Symbol.dispose]());

  for (const [file, name] of [
    ['closed.db', 'Acme'],
    ['killed.db', 'In the log'],
    ['copied.db', 'In the log'],
  ] as const) {
    test(
      `${file} is listed, looked at and backed up, with what its log holds`,
      async () => {
        const db = ['--db', `ro/${file}`];
        const before = readdirSync(sandbox.path('ro')).map((one) => [
          one,
          statSync(sandbox.path(`ro/${one}`)).mtimeMs,
        ]);
        for (const [command, shown] of [
          [['orgs', 'list', '-o', 'ndjson'], name],
          [['keys', 'list', '--org', name, '-o', 'ndjson'], 'init'],
          [['users', 'list', '--org', name, '-o', 'ndjson'], 'ada@acme.example'],
          [['audit', 'list', '-o', 'ndjson'], 'key.issued'],
          [['orgs', 'quota', name, '-o', 'ndjson'], 'records_limit'],
        ] as const) {
          const { code, stdout, stderr } = await sandbox.crm([...command, ...db]);
          expect([command, code, stderr]).toEqual([command, 0, `ro/${file} ${SAID}\n`]);
          expect(stdout).toContain(shown);
        }
        const doctor = await sandbox.crm(['doctor', ...db]);
        expect([doctor.code, doctor.stdout]).toEqual([
          0,
          expect.stringContaining('is on a read-only file system'),
        ]);
        rmSync(sandbox.path('copy.db'), { force: true });
        const backup = await sandbox.crm(['backup', 'copy.db', ...db]);
        expect([backup.code, backup.stderr]).toEqual([0, expect.stringContaining(SAID)]);
        expect(backup.stderr).not.toContain('Could not record');
        expect(backup.stderr).toEndWith('To restore it: crm restore copy.db --confirm --db NEWFILE\n');
        const restored = await sandbox.crm(['restore', 'copy.db', '--confirm', '--db', `new-${file}`]);
        expect(restored.code).toBe(0);
        expect(await sandbox.ok(['orgs', 'list', '--db', `new-${file}`, '-o', 'ndjson'])).toContain(name);
        expect(readdirSync(sandbox.path('temporary'))).toEqual([]);
        expect(
          readdirSync(sandbox.path('ro')).map((one) => [one, statSync(sandbox.path(`ro/${one}`)).mtimeMs]),
        ).toEqual(before);
      },
      LONG,
    );
  }

  test(
    'a log that can only be read from a copy is reported where no copy can be made',
    async () => {
      const env = { TMPDIR: '/nowhere' };
      const { code, stderr } = await sandbox.crm(['orgs', 'list', '--db', 'ro/copied.db'], { env });
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining('its log ro/copied.db-wal can be read only from a copy'),
      ]);
      expect(stderr).toContain('TMPDIR');
      expect(stderr).toContain('cp ro/copied.db ro/copied.db-wal FOLDER/');
      expect((await sandbox.crm(['orgs', 'list', '--db', 'ro/closed.db'], { env })).code).toBe(0);
    },
    LONG,
  );

  test(
    'what would write says that it cannot, and what to do',
    async () => {
      for (const command of [
        ['orgs', 'create', 'New'],
        ['serve', '--port', '0'],
        ['people', 'erase', 'ada@acme.example', '--org', 'Acme', '--confirm'],
      ]) {
        const { code, stderr } = await sandbox.crm([...command, '--db', 'ro/closed.db']);
        expect([command, code, stderr]).toEqual([
          command,
          1,
          expect.stringContaining('The database ro/closed.db is on a read-only file system.'),
        ]);
        expect(stderr).toContain('crm backup FILE');
      }
    },
    LONG,
  );
});
