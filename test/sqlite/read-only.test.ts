// On a read-only file system: what only reads reads the database as it is, its log included, and says so; the rest says why not.
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect } from 'bun:test';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { COMMAND, Desk } from '../support/command.ts';
import { describe, test } from '../support/on-sqlite.ts';

const LONG = 60_000;
// The folder `ro` of where it runs, in a name space of the command's own.
const MOUNT = 'mount --bind "$PWD/ro" "$PWD/ro" && mount -o remount,ro,bind "$PWD/ro" && exec "$@"';
const ways = [
  ['unshare', '-m'],
  ['unshare', '-rm'],
];
const canMount = (way: string[]): boolean => {
  using desk = new Desk();
  mkdirSync(desk.path('ro'));
  const touching = [...way, 'bash', '-c', MOUNT, 'bash', 'bash', '-c', 'echo mounted; touch ro/x'];
  if (Bun.which('unshare') === null) return false;
  const { stdout, exitCode } = Bun.spawnSync(touching, { cwd: desk.folder, stderr: 'ignore' });
  return stdout.toString() === 'mounted\n' && exitCode !== 0;
};
const way = process.platform === 'linux' ? ways.find(canMount) : undefined;
if (way === undefined)
  console.log('Nothing can be mounted here: what is read on a read-only file system is not tried.');

describe.skipIf(way === undefined)('a database on a read-only file system', () => {
  const desk = new Desk([...(way ?? []), 'bash', '-c', MOUNT, 'bash', ...COMMAND]);
  const SAID = 'is on a read-only file system: opening it read-only.';
  beforeAll(async () => {
    mkdirSync(desk.path('ro'));
    mkdirSync(desk.path('temporary'));
    desk.env.TMPDIR = desk.path('temporary');
    using plain = new Desk();
    await plain.ok(['init', '--org', 'Acme', '--user', 'ada@acme.example']);
    copyFileSync(plain.path('crm.db'), desk.path('ro/closed.db'));
    // As a server that was killed leaves them, with its log's index, and as they are copied, without it.
    const database = new Database(plain.path('crm.db'));
    database.run('PRAGMA wal_autocheckpoint = 0');
    database.run("UPDATE organizations SET name = 'In the log', name_key = 'in the log'");
    for (const suffix of ['', '-wal', '-shm'])
      copyFileSync(plain.path(`crm.db${suffix}`), desk.path(`ro/killed.db${suffix}`));
    for (const suffix of ['', '-wal'])
      copyFileSync(plain.path(`crm.db${suffix}`), desk.path(`ro/copied.db${suffix}`));
    database.close();
    for (const name of readdirSync(desk.path('ro'))) chmodSync(desk.path(`ro/${name}`), 0o600);
  }, LONG);
  afterAll(() => desk[Symbol.dispose]());

  for (const [file, name] of [
    ['closed.db', 'Acme'],
    ['killed.db', 'In the log'],
    ['copied.db', 'In the log'],
  ] as const) {
    test(
      `${file} is listed, looked at and backed up, with what its log holds`,
      async () => {
        const db = ['--db', `ro/${file}`];
        const before = readdirSync(desk.path('ro')).map((one) => [
          one,
          statSync(desk.path(`ro/${one}`)).mtimeMs,
        ]);
        for (const [command, shown] of [
          [['orgs', 'list', '-o', 'ndjson'], name],
          [['keys', 'list', '--org', name, '-o', 'ndjson'], 'init'],
          [['users', 'list', '--org', name, '-o', 'ndjson'], 'ada@acme.example'],
          [['audit', 'list', '-o', 'ndjson'], 'key.issued'],
        ] as const) {
          const { code, stdout, stderr } = await desk.crm([...command, ...db]);
          expect([command, code, stderr]).toEqual([command, 0, `ro/${file} ${SAID}\n`]);
          expect(stdout).toContain(shown);
        }
        const doctor = await desk.crm(['doctor', ...db]);
        expect([doctor.code, doctor.stdout]).toEqual([
          0,
          expect.stringContaining('is on a read-only file system'),
        ]);
        rmSync(desk.path('copy.db'), { force: true });
        const backup = await desk.crm(['backup', 'copy.db', ...db]);
        expect([backup.code, backup.stderr]).toEqual([0, expect.stringContaining(SAID)]);
        expect(backup.stderr).not.toContain('Could not record');
        const restored = await desk.crm(['restore', 'copy.db', '--confirm', '--db', `new-${file}`]);
        expect(restored.code).toBe(0);
        expect(await desk.ok(['orgs', 'list', '--db', `new-${file}`, '-o', 'ndjson'])).toContain(name);
        expect(readdirSync(desk.path('temporary'))).toEqual([]);
        expect(
          readdirSync(desk.path('ro')).map((one) => [one, statSync(desk.path(`ro/${one}`)).mtimeMs]),
        ).toEqual(before);
      },
      LONG,
    );
  }

  test(
    'a log that can only be read from a copy is reported where no copy can be made',
    async () => {
      const env = { TMPDIR: '/nowhere' };
      const { code, stderr } = await desk.crm(['orgs', 'list', '--db', 'ro/copied.db'], { env });
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining('its log ro/copied.db-wal can be read only from a copy'),
      ]);
      expect(stderr).toContain('TMPDIR');
      expect(stderr).toContain('cp ro/copied.db ro/copied.db-wal FOLDER/');
      expect((await desk.crm(['orgs', 'list', '--db', 'ro/closed.db'], { env })).code).toBe(0);
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
        const { code, stderr } = await desk.crm([...command, '--db', 'ro/closed.db']);
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
