// Exports that were interrupted, or that find another one running: what they left behind does not get into the next one.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import {
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { partialName, removePartialFiles } from '../../cli/files/partial-files.ts';
import { lockBeside, lockOf, lockWork } from '../../cli/files/work-lock.ts';
import { exportTrials } from '../soak/export-trials.ts';
import { interrupt } from '../soak/interrupted.ts';
import { hasStrace } from '../soak/strace.ts';
import { Sandbox } from '../support/command.ts';

const sandbox = await Sandbox.withDatabase();
// Of a process that cannot be, and of one that runs.
const [GONE, RUNNING] = [999_999_999, process.ppid];

beforeAll(() => sandbox.serveOrganization());
afterAll(() => sandbox[Symbol.asyncDispose]());

test('parts of runs that were killed go, those of others stay', () => {
  const file = sandbox.path('a.db');
  const stale = [partialName(file, 'crm-part'), `${file}.${GONE}.crm-part`, `${file}.${GONE}.crm-part-wal`];
  const other = [
    `${file}.${RUNNING}.crm-part`,
    `${file}.${GONE}.crm-new`,
    sandbox.path(`b.db.${GONE}.crm-part`),
  ];
  for (const name of [...stale, ...other]) writeFileSync(name, '');
  removePartialFiles(file, 'crm-part');
  const left = readdirSync(sandbox.folder).filter((name) => name.includes('crm-'));
  expect(left.toSorted()).toEqual(other.map((name) => name.slice(sandbox.folder.length + 1)).toSorted());
  for (const name of other) rmSync(name);
});

test('what a killed export left beside its file is gone after the next', async () => {
  for (const name of [`c.csv.${GONE}.crm-new`, `c.csv.crm-part.json.${GONE}.crm-new`])
    writeFileSync(sandbox.path(name), 'half');
  await sandbox.ok(['export', 'contacts', '--out', 'c.csv']);
  expect(readdirSync(sandbox.folder).filter((name) => name.startsWith('c.csv'))).toEqual(['c.csv']);
});

test.each([
  ['contacts', 'busy.csv'],
  ['all', 'busy'],
])(
  'a second export of %s to one place waits for the first to end, whatever TMPDIR each has',
  async (what, out) => {
    mkdirSync(sandbox.path('private'), { recursive: true });
    const release = lockWork({ path: lockBeside(sandbox.path(out)), refusal: 'is at it', nextSteps: [] });
    const env = { TMPDIR: sandbox.path('private') };
    const { code, stderr } = await sandbox.crm(['export', what, '--out', `new/../${out}`], { env });
    release();
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^crm: Process \d+ is exporting to .*busy/m)]);
    await sandbox.ok(['export', what, '--out', out], { env });
    expect(readdirSync(sandbox.path('private'))).toEqual([]);
    expect(readdirSync(sandbox.folder).filter((name) => name.endsWith('.crm-lock'))).toEqual([]);
  },
);

test('an import has its lock where each run of a user looks for it, whatever TMPDIR it has', () => {
  const { XDG_STATE_HOME, TMPDIR } = process.env;
  try {
    process.env.XDG_STATE_HOME = sandbox.path('state');
    const places = ['private', 'other'].map((name) => {
      process.env.TMPDIR = sandbox.path(name);
      return lockOf('import-1');
    });
    expect(new Set(places).size).toBe(1);
    expect(statSync(sandbox.path('state/crm')).mode & 0o777).toBe(0o700);
    const release = lockWork({ path: places[0] ?? '', refusal: 'is at it', nextSteps: [] });
    expect(() => lockWork({ path: places[1] ?? '', refusal: 'is at it', nextSteps: [] })).toThrow('is at it');
    release();
  } finally {
    Object.assign(process.env, { XDG_STATE_HOME, TMPDIR });
    if (XDG_STATE_HOME === undefined) delete process.env.XDG_STATE_HOME;
    if (TMPDIR === undefined) delete process.env.TMPDIR;
  }
});

const foreign: [name: string, said: string, lay: (lock: string) => void][] = [
  ['a link', 'is a symbolic link', (lock) => symlinkSync(sandbox.path('target'), lock)],
  ['a folder', 'is not a file', (lock) => mkdirSync(lock)],
  ['a hard link', 'is a hard link', (lock) => linkSync(sandbox.path('target'), lock)],
];
if (process.geteuid?.() === 0)
  foreign.push([
    "another user's file",
    'belongs to another user (uid 65534)',
    (lock) => {
      writeFileSync(lock, '');
      chownSync(lock, 65_534, 65_534);
    },
  ]);

test.each(foreign)('%s where the lock is to be is refused, and not opened', async (_, said, lay) => {
  writeFileSync(sandbox.path('target'), 'theirs');
  const lock = sandbox.path('mine.csv.crm-lock');
  lay(lock);
  const { code, stderr } = await sandbox.crm(['export', 'contacts', '--out', 'mine.csv']);
  rmSync(lock, { recursive: true });
  expect([code, stderr]).toEqual([1, expect.stringContaining(`mine.csv.crm-lock ${said}`)]);
  expect(readFileSync(sandbox.path('target'), 'utf8')).toBe('theirs');
});

test('lines that a state of another run counts are not gone on with', async () => {
  await sandbox.ok(['create', 'contacts', 'email=ada@example.com']);
  writeFileSync(sandbox.path('s.ndjson.crm-part'), 'x'.repeat(100));
  writeFileSync(sandbox.path('s.ndjson.crm-part.json'), '{}');
  await sandbox.ok(['export', 'contacts', '--out', 's.ndjson', '--resume']);
  expect(readFileSync(sandbox.path('s.ndjson'), 'utf8')).toMatch(/^\{.*ada@example.com.*\}\n$/);
});

test.skipIf(!hasStrace)(
  'killed as it gives a name, each is whole or not there (needs strace; soak:backups does it at every call)',
  async () => {
    const root = mkdtempSync(join(tmpdir(), 'crm-test-'));
    const { trials, close } = await exportTrials(root);
    try {
      for (const trial of trials.slice(0, 2)) {
        const { runs, faults } = await interrupt(trial, { calls: ['rename', 'unlink'], what: 'SIGKILL' });
        expect([trial.name, faults]).toEqual([trial.name, []]);
        expect(runs).toBeGreaterThan(1);
      }
    } finally {
      await close();
      rmSync(root, { recursive: true });
    }
  },
  300_000,
);
