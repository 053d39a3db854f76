// Backups at intervals: which of them stay, and that a server makes them.
import { describe, expect, test } from 'bun:test';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { expiredBackups, keepRules } from '../../cli/backup/retention.ts';
import { BackupSchedule } from '../../cli/backup/schedule.ts';
import { backupPlan } from '../../cli/backup/serve-options.ts';
import { Sandbox } from '../support/command.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

describe('which backups stay', () => {
  test.each(['', '24h', '24h=0s', '15m=24h', '24h=15m,', 'x=1d'])('%p is no rule', (text) => {
    expect(keepRules(text)).toBeUndefined();
  });

  test('one of each interval by age, for months on end', () => {
    const rules = keepRules('30d=1d,24h=15m') ?? [];
    let times: number[] = [];
    const start = Date.UTC(2026, 0, 1);
    for (let now = start; now < start + 60 * DAY; now += 5 * MINUTE) {
      times.push(now);
      const gone = new Set(expiredBackups(times, now, rules));
      times = times.filter((time) => !gone.has(time));
    }
    const newest = times.at(-1) ?? 0;
    expect(times.filter((time) => newest - time <= DAY).length).toBeWithin(96, 99);
    const older = times.filter((time) => newest - time > DAY);
    expect(older.length).toBeWithin(28, 31);
    expect(newest - (times[0] ?? 0)).toBeWithin(29 * DAY, 30 * DAY + 1);
  });

  test('the newest of all, however old', () => {
    expect(expiredBackups([1, 2, 3], 90 * DAY, keepRules('24h=15m') ?? [])).toEqual([1, 2]);
  });
});

test('unless told otherwise, one per 15 minutes is kept for a day, and one per day for 30', () => {
  const plan = backupPlan({ backupEvery: 900_000, backupDir: 'b' }, 'crm.db');
  expect(plan?.keep).toEqual(keepRules('24h=15m,30d=1d') ?? []);
});

test('one that cannot be started is reported, and does not end the server, whatever a clock once said', async () => {
  using sandbox = new Sandbox();
  const schedule = new BackupSchedule({
    db: sandbox.path('crm.db'),
    folder: sandbox.folder,
    every: 20,
    keep: [],
  });
  writeFileSync(sandbox.path('crm-20990101T000000Z.db'), '');
  const executable = process.execPath;
  process.execPath = sandbox.path('gone');
  try {
    const told = Promise.withResolvers<string>();
    schedule.start(told.resolve);
    expect(await told.promise).toContain('The backup failed. ');
  } finally {
    process.execPath = executable;
    await schedule.stop();
  }
});

test('a server makes them, in a folder of its own, and removes those that are too old', async () => {
  using sandbox = new Sandbox();
  await sandbox.ok(['init', '--org', 'Acme']);
  const old = [
    'crm-20200101T000000Z.db',
    'crm-20200102T000000Z.db',
    'crm-20200103T000000Z.db.999999999.crm-part',
    'notes.txt',
  ];
  await sandbox.serve(['--backup-every', '1m', '--backup-dir', 'backups']).then((server) => server.stop());
  const names = () => readdirSync(sandbox.path('backups')).sort();
  // Its first backup may be finished.
  for (const name of names()) rmSync(sandbox.path(`backups/${name}`));
  for (const name of old) writeFileSync(sandbox.path(`backups/${name}`), '');
  const server = await sandbox.serve(['--backup-every', '1m', '--backup-dir', 'backups', '--keep', '1h=1m']);
  const made = () => names().filter((name) => !old.includes(name));
  await until(
    () => made().some((name) => name.endsWith('.db')) && names().length <= made().length + 1,
    () => names().join(' '),
  );
  await server.stop();
  expect(names()).toEqual([...made(), 'notes.txt']);
  const backup = made().find((name) => name.endsWith('.db'));
  const { code } = await sandbox.crm(['restore', `backups/${backup}`, '--confirm']);
  expect(code).toBe(0);
}, 300_000);

test.each([
  [['--backup-every', '1m'], '--backup-every and --backup-dir must be used together'],
  [['--backup-every', '5s', '--backup-dir', 'b'], 'Use an interval of 1m or more'],
  [['--backup-every', '1m', '--backup-dir', 'b', '--keep', 'all'], 'Use ages and intervals'],
  [
    ['--backup-every', '1m', '--backup-dir', 'b', '--db', 'postgres://ada@db.example/crm'],
    'works with a database file only',
  ],
])('%j is refused in words', async (words, message) => {
  using sandbox = new Sandbox();
  const { code, stderr } = await sandbox.crm(['serve', ...words]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});
