// Backups and restores that were cut off, at any of their system calls: the next command finds all that was there.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockPlace } from '../../db/maintenance.ts';
import { fileTrials } from '../soak/file-trials.ts';
import { interrupt } from '../soak/interrupted.ts';
import { hasStrace } from '../soak/strace.ts';
import { Sandbox } from '../support/command.ts';

// Memory that is a disk of its own.
const OTHER_DISK = '/dev/shm';
const hasOtherDisk =
  statSync(OTHER_DISK, { throwIfNoEntry: false })?.isDirectory() === true &&
  statSync(OTHER_DISK).dev !== statSync(tmpdir()).dev;

const sandbox = new Sandbox();
beforeAll(async () => {
  await sandbox.ok(['init', '--org', 'Acme']);
  await sandbox.ok(['backup', 'first.db', '--quiet']);
});
afterAll(() => sandbox[Symbol.dispose]());

const lockAs = (address: string) =>
  lockPlace(sandbox.path('crm.db'), { pid: process.pid, since: 'now', address });
const keptNames = () => readdirSync(sandbox.folder).filter((name) => name.includes('before-restore'));

test('a restore that was cut off before its last step leaves a database that opens', async () => {
  lockAs('crm restore')();
  linkSync(sandbox.path('crm.db'), sandbox.path('crm.db.before-restore-20260101T000000Z'));
  expect(await sandbox.ok(['orgs', 'list', '--db', 'crm.db', '-o', 'ndjson'])).toContain('Acme');
  expect(keptNames()).toEqual([]);
});

test('the two names that a restore gives stay while it is under way', async () => {
  const unlock = lockAs('crm restore');
  try {
    linkSync(sandbox.path('crm.db'), sandbox.path('crm.db.before-restore-20260101T000000Z'));
    const { code, stderr } = await sandbox.crm(['orgs', 'list']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('has several names')]);
    expect(keptNames()).toHaveLength(1);
  } finally {
    unlock();
  }
  await sandbox.ok(['orgs', 'list']);
  expect(keptNames()).toEqual([]);
});

test('two restores in one second keep what each replaced', async () => {
  for (const name of ['Second', 'Third']) {
    await sandbox.ok(['orgs', 'create', name]);
    await sandbox.ok(['restore', 'first.db', '--confirm', '--quiet']);
  }
  const [second, third] = keptNames().toSorted();
  expect(await sandbox.ok(['orgs', 'list', '-o', 'ndjson', '--db', second ?? ''])).toContain('Second');
  expect(await sandbox.ok(['orgs', 'list', '-o', 'ndjson', '--db', third ?? ''])).toContain('Third');
});

test('older backups move on no farther than to a place that is free', async () => {
  const backUp = () => sandbox.ok(['backup', 'kept.db', '--keep', '4', '--quiet']);
  for (let count = 0; count < 4; count++) await backUp();
  const read = (age: number) => readFileSync(sandbox.path(`kept.db.${age}`));
  const [second, third] = [read(2), read(3)];
  rmSync(sandbox.path('kept.db.1'));
  await backUp();
  expect([read(2).equals(second), read(3).equals(third)]).toEqual([true, true]);
  // Cut off before the newest gave its name up.
  rmSync(sandbox.path('kept.db.1'));
  linkSync(sandbox.path('kept.db'), sandbox.path('kept.db.1'));
  const first = read(1);
  await backUp();
  expect([read(1).equals(first), read(2).equals(second)]).toEqual([true, true]);
});

test.skipIf(!hasOtherDisk)('a database that a link leads to is restored where it lies', async () => {
  const folder = mkdtempSync(join(OTHER_DISK, 'crm-test-'));
  try {
    await sandbox.ok(['restore', 'first.db', '--confirm', '--quiet', '--db', join(folder, 'far.db')]);
    symlinkSync(join(folder, 'far.db'), sandbox.path('near.db'));
    await sandbox.ok(['restore', 'first.db', '--confirm', '--quiet', '--db', 'near.db']);
    expect(readdirSync(folder).filter((name) => name.startsWith('far.db.before-restore-'))).toHaveLength(1);
    expect(await sandbox.ok(['orgs', 'list', '-o', 'ndjson', '--db', 'near.db'])).toContain('Acme');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.skipIf(!hasStrace)(
  'killed as it gives or takes a name, each loses nothing (needs strace; soak:backups does it at every call)',
  async () => {
    const root = mkdtempSync(join(tmpdir(), 'crm-test-'));
    try {
      for (const trial of await fileTrials(root)) {
        const calls = ['rename', 'link', 'unlink'] as const;
        const { runs, faults } = await interrupt(trial, { calls, what: 'SIGKILL', step: 2 });
        expect([trial.name, faults]).toEqual([trial.name, []]);
        expect(runs).toBeGreaterThan(1);
      }
    } finally {
      rmSync(root, { recursive: true });
    }
  },
  300_000,
);
