// Exports that were cut off, or that another is in the way of: what is left of them is no part of what comes next.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { partName, removeParts } from '../../cli/files/parts.ts';
import { lockWork } from '../../cli/files/work-lock.ts';
import { exportTrials } from '../soak/export-trials.ts';
import { interrupt } from '../soak/interrupted.ts';
import { hasStrace } from '../soak/strace.ts';
import { Desk } from '../support/command.ts';

const desk = await Desk.withDatabase();
// Of a process that cannot be, and of one that runs.
const [GONE, RUNNING] = [999_999_999, process.ppid];

beforeAll(() => desk.serveOrganization());
afterAll(() => desk[Symbol.asyncDispose]());

test('parts of runs that were killed go, those of others stay', () => {
  const file = desk.path('a.db');
  const stale = [partName(file, 'crm-part'), `${file}.${GONE}.crm-part`, `${file}.${GONE}.crm-part-wal`];
  const other = [
    `${file}.${RUNNING}.crm-part`,
    `${file}.${GONE}.crm-new`,
    desk.path(`b.db.${GONE}.crm-part`),
  ];
  for (const name of [...stale, ...other]) writeFileSync(name, '');
  removeParts(file, 'crm-part');
  const left = readdirSync(desk.folder).filter((name) => name.includes('crm-'));
  expect(left.toSorted()).toEqual(other.map((name) => name.slice(desk.folder.length + 1)).toSorted());
  for (const name of other) rmSync(name);
});

test('what a killed export left beside its file is gone after the next', async () => {
  for (const name of [`c.csv.${GONE}.crm-new`, `c.csv.crm-part.json.${GONE}.crm-new`])
    writeFileSync(desk.path(name), 'half');
  await desk.ok(['export', 'contacts', '--out', 'c.csv']);
  expect(readdirSync(desk.folder).filter((name) => name.startsWith('c.csv'))).toEqual(['c.csv']);
});

test.each([
  ['contacts', 'busy.csv'],
  ['all', 'busy'],
])('a second export of %s to one place waits for the first to end', async (what, out) => {
  const release = lockWork({
    kind: 'export',
    subject: join(realpathSync(desk.folder), out),
    refusal: 'is at it',
    nextSteps: [],
  });
  const { code, stderr } = await desk.crm(['export', what, '--out', out]);
  release();
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^crm: Process \d+ is exporting to .*busy/m)]);
  await desk.ok(['export', what, '--out', out]);
});

test('lines that a state of another run counts are not gone on with', async () => {
  await desk.ok(['create', 'contacts', 'email=ada@example.com']);
  writeFileSync(desk.path('s.ndjson.crm-part'), 'x'.repeat(100));
  writeFileSync(desk.path('s.ndjson.crm-part.json'), '{}');
  await desk.ok(['export', 'contacts', '--out', 's.ndjson', '--resume']);
  expect(readFileSync(desk.path('s.ndjson'), 'utf8')).toMatch(/^\{.*ada@example.com.*\}\n$/);
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
  120_000,
);
