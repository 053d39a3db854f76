// What another user of the machine puts beside a database first: it is refused with a word, and never opened or written.
import { Database } from 'bun:sqlite';
import { expect } from 'bun:test';
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TrustedTakeoverSocket } from '../../server/lifecycle/takeover-socket-owner.ts';
import { Sandbox } from '../support/command.ts';
import { describe, test } from '../support/on-sqlite.ts';

const LONG = 300_000;
const NOBODY = 65_534;
const isRoot = process.geteuid?.() === 0;

/** A lock in which somebody says that they serve, and take what is handed over. */
function writeLock(path: string): void {
  const lock = new Database(path, { create: true });
  lock.run('CREATE TABLE holder (pid INTEGER, since TEXT, address TEXT) STRICT');
  lock.run('INSERT INTO holder VALUES (1, ?, ?)', ['2026-01-01T00:00:00Z', '127.0.0.1:4000']);
  lock.run('CREATE TABLE handover (pid INTEGER, since TEXT, inlet TEXT) STRICT');
  lock.run('INSERT INTO handover VALUES (1, ?, ?)', ['2026-01-01T00:00:00Z', '/tmp/theirs/inlet']);
  lock.close();
  chmodSync(path, 0o600);
}

const rows: [name: string, said: string, lay: (lock: string, other: string) => void][] = [
  ['a link', 'is a link', (lock, other) => symlinkSync(other, lock)],
  ['a link to nothing', 'is a link', (lock, other) => symlinkSync(`${other}-none`, lock)],
  ['a second name of a file', 'has several names', (lock, other) => linkSync(other, lock)],
  ['a folder', 'is not a file', (lock) => mkdirSync(lock)],
  [
    'a file that others may open',
    'can be opened by other users',
    (lock) => {
      writeLock(lock);
      chmodSync(lock, 0o644);
    },
  ],
];
if (isRoot) {
  rows.push([
    "another user's file",
    `belongs to another user (uid ${NOBODY})`,
    (lock) => {
      writeLock(lock);
      chownSync(lock, NOBODY, NOBODY);
    },
  ]);
}

describe.skipIf(process.platform === 'win32')('the lock for serving that somebody made first', () => {
  for (const [name, said, lay] of rows) {
    test(
      `${name}: nobody serves or restores by it`,
      async () => {
        using sandbox = new Sandbox();
        await sandbox.ok(['init', '--org', 'Example']);
        await sandbox.ok(['backup', 'copy.db', '--quiet']);
        const other = sandbox.path('other');
        writeLock(other);
        const before = await Bun.file(other).bytes();
        const lock = sandbox.path('crm.db-serving');
        rmSync(lock, { force: true });
        lay(lock, other);
        const commands = [
          ['serve', '--port', '0'],
          ['serve', '--port', '0', '--takeover'],
          ['restore', 'copy.db', '--confirm'],
          ['doctor', '--db', 'crm.db'],
        ];
        const results = await Promise.all(commands.map((command) => sandbox.crm(command)));
        for (const [index, { code, stdout, stderr }] of results.entries()) {
          const command = commands[index];
          expect([command, code]).toEqual([command, 1]);
          expect(stdout + stderr).toContain('crm.db-serving');
          expect(stdout + stderr).toContain(said);
          expect(stdout + stderr).toContain('install -d -m 700 FOLDER');
        }
        expect(await Bun.file(other).bytes()).toEqual(before);
        expect(lstatSync(`${other}-none`, { throwIfNoEntry: false })).toBeUndefined();
      },
      LONG,
    );
  }

  test(
    'a journal beside it is not played back, and a log beside the database is its own',
    async () => {
      using sandbox = new Sandbox();
      await sandbox.ok(['init', '--org', 'Example']);
      await Bun.write(sandbox.path('other'), 'theirs');
      for (const name of ['crm.db-serving-journal', 'crm.db-wal', 'crm.db-journal']) {
        const path = sandbox.path(name);
        rmSync(path, { force: true });
        writeLock(sandbox.path('crm.db-serving'));
        symlinkSync(sandbox.path('other'), path);
        const { code, stderr } = await sandbox.crm(['serve', '--port', '0']);
        expect([name, code, stderr]).toEqual([name, 1, expect.stringContaining(`${name} is a link`)]);
        rmSync(path);
        rmSync(sandbox.path('crm.db-serving'));
      }
      expect(await sandbox.read('other')).toBe('theirs');
    },
    LONG,
  );

  test.skipIf(!isRoot)(
    'what root makes is for whose database it is',
    async () => {
      using sandbox = new Sandbox();
      await sandbox.ok(['init', '--org', 'Example']);
      for (const name of ['crm.db', 'crm.db-serving'])
        if (await sandbox.exists(name)) chownSync(sandbox.path(name), NOBODY, NOBODY);
      const server = await sandbox.serve();
      expect(lstatSync(sandbox.path('crm.db-serving')).uid).toBe(NOBODY);
      expect((await server.stop()).code).toBe(0);
    },
    LONG,
  );
});

describe('doctor', () => {
  const finding = async (sandbox: Sandbox) => {
    const { stdout } = await sandbox.crm(['doctor', '-o', 'json']);
    const rows: Record<string, string>[] = JSON.parse(stdout);
    return rows.find(({ check }) => check === 'folder');
  };

  test.skipIf(process.platform === 'win32')(
    'warns of a folder in which others may write',
    async () => {
      using sandbox = new Sandbox();
      await sandbox.ok(['init', '--org', 'Example']);
      expect(await finding(sandbox)).toMatchObject({ status: 'ok' });
      for (const [mode, said] of [
        [0o1777, 'everybody can add files next to the database'],
        [0o777, 'everybody can replace the database'],
        [0o770, 'its group can replace the database'],
      ] as const) {
        chmodSync(sandbox.folder, mode);
        const { status, found, next } = (await finding(sandbox)) ?? {};
        expect([status, found, next]).toEqual([
          'warn',
          expect.stringContaining(said),
          expect.stringContaining('install -d -m 700'),
        ]);
      }
      chmodSync(sandbox.folder, 0o700);
    },
    LONG,
  );
});

describe.skipIf(process.platform !== 'linux')(
  'what is handed over goes to an inlet of this user alone',
  () => {
    const place = () => {
      const folder = mkdtempSync(join(tmpdir(), 'crm-test-'));
      return { folder, inlet: join(folder, 'inlet') };
    };
    const listen = (unix: string) => Bun.serve({ unix, fetch: () => new Response('theirs') });
    const trusts = (inlet: string): boolean => {
      const trusted = new TrustedTakeoverSocket();
      try {
        return trusted.reach(inlet) !== null;
      } finally {
        trusted.close();
      }
    };

    test('in a folder that it alone can enter', async () => {
      const { folder, inlet } = place();
      const server = listen(inlet);
      expect(trusts(inlet)).toBe(true);
      for (const mode of [0o755, 0o710, 0o777, 0o1777]) {
        chmodSync(folder, mode);
        expect([mode, trusts(inlet)]).toEqual([mode, false]);
      }
      chmodSync(folder, 0o700);
      symlinkSync(folder, `${folder}-link`);
      expect(() => trusts(join(`${folder}-link`, 'inlet'))).toThrow('ENOTDIR');
      if (isRoot) {
        chownSync(folder, NOBODY, NOBODY);
        expect(trusts(inlet)).toBe(false);
        chownSync(folder, 0, 0);
        chownSync(inlet, NOBODY, NOBODY);
        expect(trusts(inlet)).toBe(false);
      }
      await server.stop(true);
      rmSync(`${folder}-link`);
      rmSync(folder, { recursive: true });
    });

    test('which stays the one that was looked at, whatever takes its name', async () => {
      const [own, theirs] = [place(), place()];
      const servers = [listen(own.inlet), listen(theirs.inlet)];
      const trusted = new TrustedTakeoverSocket();
      const path = trusted.reach(own.inlet) ?? '';
      rmSync(own.folder, { recursive: true });
      symlinkSync(theirs.folder, own.folder);
      expect(trusted.reach(own.inlet)).toBe(path);
      expect(() => lstatSync(path)).toThrow('ENOENT');
      trusted.close();
      await Promise.all(servers.map((server) => server.stop(true)));
      rmSync(own.folder);
      rmSync(theirs.folder, { recursive: true });
    });

    test.skipIf(!isRoot || Bun.which('setpriv') === null)(
      'where a process of this user listens',
      async () => {
        const { folder, inlet } = place();
        chmodSync(folder, 0o777);
        const script = `Bun.serve({ unix: ${JSON.stringify(inlet)}, fetch: () => new Response() }); console.log('up')`;
        const child = Bun.spawn(
          [
            'setpriv',
            `--reuid=${NOBODY}`,
            `--regid=${NOBODY}`,
            '--clear-groups',
            process.execPath,
            '-e',
            script,
          ],
          { cwd: '/', env: {}, stdout: 'pipe', stderr: 'pipe' },
        );
        const isUp = (await child.stdout.getReader().read()).value !== undefined;
        if (!isUp) return console.log('The other user cannot run Bun here: skipped.');
        chownSync(inlet, 0, 0);
        chmodSync(folder, 0o700);
        expect(trusts(inlet)).toBe(false);
        child.kill();
        await child.exited;
        rmSync(folder, { recursive: true });
      },
    );
  },
);
