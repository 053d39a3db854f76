// `crm serve --metrics-port`: what it refuses, and what it tells of backups and of a file that is not there any more.
import { expect, test } from 'bun:test';
import { renameSync } from 'node:fs';
import { Sandbox } from '../support/command.ts';
import { Scrape } from '../support/metrics.ts';
import { test as testOnFile } from '../support/on-sqlite.ts';

const LONG = 300_000;

test.each([
  [['--metrics-host', '10.0.0.1'], 2, 'requires --metrics-port'],
  [['--port', '4123', '--metrics-port', '4123'], 2, 'is the port of the API'],
  [
    ['--port', '0', '--metrics-port', '0', '--metrics-host', '192.0.2.1'],
    1,
    'Set --metrics-host to an IP address',
  ],
] as const)('%p are refused', async (flags, expected, words) => {
  await using sandbox = await Sandbox.withDatabase();
  const { code, stderr } = await sandbox.crm(['serve', ...flags]);
  expect(code).toBe(expected);
  expect(stderr).toContain(words);
});

test('a port that is taken is reported as such, by its own flag', async () => {
  await using sandbox = await Sandbox.withDatabase();
  const other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() });
  const { port } = other;
  const { code, stderr } = await sandbox.crm(['serve', '--port', '0', '--metrics-port', String(port)]);
  await other.stop(true);
  expect(code).toBe(1);
  expect(stderr).toContain(`127.0.0.1:${port} is already in use`);
  expect(stderr).toContain('--metrics-port');
});

testOnFile(
  'of a database that is served already its server is reported, not the port of its metrics',
  async () => {
    using sandbox = new Sandbox();
    await sandbox.ok(['init', '--org', 'Example']);
    const server = await sandbox.serve(['--metrics-port', '0']);
    const taken = ['--metrics-port', new URL(server.metricsUrl ?? '').port];
    const { code, stderr } = await sandbox.crm(['serve', '--port', '0', ...taken]);
    expect(code).toBe(1);
    expect(stderr).toContain(String(server.pid));
    await sandbox.ok(['init', '--org', 'Another', '--db', 'another.db']);
    const other = await sandbox.crm(['serve', '--port', '0', ...taken, '--db', 'another.db']);
    expect(other.stderr).toMatch(/another: crm serve --port 0 --metrics-port \d+ --db another\.db\n/);
    await server.stop();
  },
);

testOnFile('an address that others reach is taken when it is named, with a word', async () => {
  using sandbox = new Sandbox();
  await sandbox.ok(['init', '--org', 'Example']);
  const server = await sandbox.serve(['--metrics-port', '0', '--metrics-host', '0.0.0.0']);
  expect(server.metricsUrl).toStartWith('http://0.0.0.0:');
  await server.says('they need no API key');
  await server.stop();
});

testOnFile(
  'backups are reported, those of the schedule and those by hand',
  async () => {
    using sandbox = new Sandbox();
    await sandbox.ok(['init', '--org', 'Example']);
    const plain = await sandbox.serve(['--metrics-port', '0']);
    const LAST = 'crm_backup_last_success_timestamp_seconds';
    const before = await Scrape.of(plain.metricsUrl);
    expect(before.value(LAST)).toBe(0);
    expect(before.families.filter((name) => name.startsWith('crm_backup'))).toEqual([LAST]);
    const beganAt = Date.now() / 1_000;
    await sandbox.ok(['backup', 'by-hand.db']);
    expect((await Scrape.of(plain.metricsUrl)).value(LAST)).toBeWithin(beganAt - 1, Date.now() / 1_000 + 1);
    await plain.stop();
    const scheduled = await sandbox.serve([
      '--metrics-port',
      '0',
      '--backup-every',
      '1h',
      '--backup-dir',
      'backups',
    ]);
    const deadline = performance.now() + LONG / 2;
    let scrape = await Scrape.of(scheduled.metricsUrl);
    while (scrape.value('crm_backups_total', { result: 'succeeded' }) !== 1) {
      if (performance.now() > deadline) throw new Error(scrape.text);
      await Bun.sleep(100);
      scrape = await Scrape.of(scheduled.metricsUrl);
    }
    expect(scrape.value('crm_backups_total', { result: 'failed' })).toBe(0);
    expect(scrape.value('crm_backup_interval_seconds')).toBe(3_600);
    expect(scrape.value('crm_backup_last_duration_seconds')).toBeGreaterThan(0);
    expect(scrape.value('crm_backup_last_size_bytes')).toBeGreaterThan(100_000);
    expect(scrape.value(LAST)).toBeGreaterThan(beganAt);
    await scheduled.stop();
  },
  LONG,
);

testOnFile.each([[], ['--readers', '2']])(
  'a file that was moved is reported by readiness and metrics alike: %p',
  async (...flags) => {
    using sandbox = new Sandbox();
    await sandbox.ok(['init', '--org', 'Example']);
    const server = await sandbox.serve(['--metrics-port', '0', ...flags]);
    const told = async () => [
      (await fetch(`${server.url}/readyz`)).status,
      (await Scrape.of(server.metricsUrl)).value('crm_ready'),
    ];
    expect(await told()).toEqual([200, 1]);
    renameSync(sandbox.path('crm.db'), sandbox.path('moved.db'));
    expect(await told()).toEqual([503, 0]);
    await sandbox.write('crm.db', 'another');
    expect(await told()).toEqual([503, 0]);
    renameSync(sandbox.path('moved.db'), sandbox.path('crm.db'));
    expect(await told()).toEqual([200, 1]);
    await server.stop();
  },
  LONG,
);
