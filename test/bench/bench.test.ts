// `bun run bench` in its short form: that it works, and that what it compares is comparable. It holds no figure to anything.
import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tables, withTables } from './markdown.ts';
import { MEASUREMENTS } from './measurements.ts';
import { OPERATIONS } from './operations.ts';
import type { Report } from './report.ts';

const ROOT = join(import.meta.dir, '../..');
const BINARY = join(ROOT, 'dist/crm');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

const folder = mkdtempSync(join(tmpdir(), 'crm-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The first cells of all rows of all tables. */
const labels = (markdown: string) => [...markdown.matchAll(/^\| ([^|]*) \|/gm)].map(([, label]) => label);

const expectSpread = (spread: unknown) =>
  expect(spread).toEqual({ median: expect.any(Number), min: expect.any(Number), max: expect.any(Number) });

describe.skipIf(!existsSync(BINARY))('the benchmark (needs dist/crm: bun run build)', () => {
  test('runs everything on everything, and README has the same rows', async () => {
    const json = join(folder, 'report.json');
    const command = [process.execPath, join(import.meta.dir, 'bench.ts'), '--short', '--json', json];
    const env = { ...process.env, CRM_BIN: BINARY, CRM_BIN_BEFORE: BINARY };
    const child = Bun.spawn(command, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [stdout, stderr, code] = await Promise.all([
      child.stdout.text(),
      child.stderr.text(),
      child.exited,
    ]);
    expect([code, stderr]).toEqual([0, 'Filling databases with 800 contacts …\n']);
    // Without a terminal there are no bars and no colours.
    expect([stdout.includes('█'), Bun.stripANSI(stdout) === stdout]).toEqual([false, true]);

    const report = (await Bun.file(json).json()) as Report;
    expect(report.operations.map(({ name }) => name)).toEqual(OPERATIONS.map(({ name }) => name));
    for (const [index, { name, servers, ratios }] of report.operations.entries()) {
      const others = ['before', ...(OPERATIONS[index]?.bare ?? [])].toSorted();
      expect([name, Object.keys(ratios).toSorted()]).toEqual([name, others]);
      expect([name, Object.keys(servers).toSorted()]).toEqual([name, ['crm', ...others].toSorted()]);
      for (const { cpu, rate } of Object.values(ratios)) [cpu, rate].map(expectSpread);
      for (const figures of Object.values(servers)) {
        [figures.cpuMicros, figures.perSecond].map(expectSpread);
        expect(figures.perSecond.min).toBeGreaterThan(0);
        expect(figures.count).toBeGreaterThan(0);
        expect(figures.clientCpuMicros).toBeGreaterThan(0);
      }
    }
    expect(report.measurements.map(({ name }) => name)).toEqual(MEASUREMENTS.map(({ name }) => name));
    for (const { servers } of report.measurements) {
      expect(Object.keys(servers)).toEqual(['crm', 'before']);
      for (const { min } of Object.values(servers)) expect(min).toBeGreaterThan(0);
    }

    const shown = README.slice(README.indexOf('<!-- bench'), README.indexOf('<!-- /bench'));
    expect(labels(shown)).toEqual(labels(tables(report)));
    const remade = withTables(README, report);
    expect(withTables(remade, report)).toBe(remade);
  }, 60_000);
});
