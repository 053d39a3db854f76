// `bun run bench` in its short form: that it works, and that what it compares is comparable. It holds no figure to anything.
import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPostgres } from '../support/fresh-databases.ts';
import { FOLLOWING } from './following.ts';
import { between, postgresTables, readersTables, tables, withTables } from './markdown.ts';
import { MEASUREMENTS } from './measurements.ts';
import { OPERATIONS } from './operations.ts';
import type { Report } from './report.ts';
import type { BareName, BuildName } from './servers.ts';

// On a machine that has much else to do.
const LONG = 1_200_000;

const ROOT = join(import.meta.dir, '../..');
const BINARY = join(ROOT, 'dist/crm');
const PAGE = readFileSync(join(ROOT, 'cli/manual/performance.md'), 'utf8');

const folder = mkdtempSync(join(tmpdir(), 'crm-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The first cells of all rows of all tables. */
const labels = (markdown: string) => [...markdown.matchAll(/^\| ([^|]*) \|/gm)].map(([, label]) => label);

const expectSpread = (spread: unknown) =>
  expect(spread).toEqual({ median: expect.any(Number), min: expect.any(Number), max: expect.any(Number) });

async function runShort(args: readonly string[], more: Record<string, string> = {}): Promise<Report> {
  const json = join(folder, 'report.json');
  const command = [process.execPath, join(import.meta.dir, 'bench.ts'), '--short', '--json', json, ...args];
  const env = { ...process.env, CRM_BIN: BINARY };
  const child = Bun.spawn(command, { env: { ...env, ...more }, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  expect([code, stderr]).toEqual([0, 'Filling databases with 800 contacts …\n']);
  // Without a terminal there are no bars and no colours.
  expect([stdout.includes('█'), Bun.stripANSI(stdout) === stdout]).toEqual([false, true]);
  return (await Bun.file(json).json()) as Report;
}

/** That every operation was measured on crm and these, and on the bare servers that it has. */
function expectOperations({ operations }: Report, builds: readonly BuildName[], bare: readonly BareName[]) {
  expect(operations.map(({ name }) => name)).toEqual(OPERATIONS.map(({ name }) => name));
  for (const [index, { name, servers, ratios }] of operations.entries()) {
    const operation = OPERATIONS[index];
    const ofOperation = bare.filter((one) => operation?.bare.includes(one));
    const unlogged = operation?.isLogged ? ['crm-unlogged'] : [];
    const others = [...builds, ...unlogged, ...ofOperation].toSorted();
    expect([name, Object.keys(ratios).toSorted()]).toEqual([name, others]);
    expect([name, Object.keys(servers).toSorted()]).toEqual([name, ['crm', ...others].toSorted()]);
    for (const { cpu, allCpu, rate } of Object.values(ratios)) [cpu, allCpu, rate].map(expectSpread);
    for (const figures of Object.values(servers)) {
      [figures.cpuMicros, figures.laterCpuMicros, figures.perSecond].map(expectSpread);
      expect(figures.perSecond.min).toBeGreaterThan(0);
      expect(figures.count).toBeGreaterThan(0);
      expect(figures.clientCpuMicros).toBeGreaterThan(0);
    }
  }
}

function expectMeasurements({ measurements }: Report, builds: readonly BuildName[]) {
  expect(measurements.map(({ name }) => name)).toEqual(MEASUREMENTS.map(({ name }) => name));
  for (const { servers } of measurements) {
    expect(Object.keys(servers)).toEqual([...builds]);
    for (const { min } of Object.values(servers)) expect(min).toBeGreaterThan(0);
  }
}

function expectFollowing({ following }: Report, builds: readonly BuildName[]) {
  expect(following.map(({ name }) => name)).toEqual([...FOLLOWING]);
  for (const { servers } of following) {
    expect(Object.keys(servers)).toEqual([...builds]);
    for (const { max } of Object.values(servers)) expect(max).toBeLessThan(60_000);
  }
}

describe.skipIf(!existsSync(BINARY))('the benchmark (needs dist/crm: bun run build)', () => {
  test.skipIf(isPostgres)(
    'runs everything on everything, and the manual has the same rows',
    async () => {
      const report = await runShort(['--readers', '2'], { CRM_BIN_BEFORE: BINARY });
      expectOperations(report, ['before', 'crm-readers'], ['bare', 'same-tables']);
      expectMeasurements(report, ['crm', 'before', 'crm-unlogged', 'crm-readers']);
      expectFollowing(report, ['crm', 'crm-readers']);
      expect(labels(between(PAGE, 'bench'))).toEqual(labels(tables(report)));
      expect(labels(between(PAGE, 'bench-postgres'))).toEqual(labels(postgresTables(report)));
      expect(labels(readersTables(report))).toEqual(
        expect.arrayContaining(labels(between(PAGE, 'bench-readers'))),
      );
      const remade = withTables(PAGE, report);
      expect(withTables(remade, report)).toBe(remade);
      expect(between(remade, 'bench-postgres')).toBe(between(PAGE, 'bench-postgres'));
    },
    LONG,
  );

  describe.skipIf(!isPostgres)('on PostgreSQL (needs CRM_TEST_DB)', () => {
    const address = process.env.CRM_TEST_DB ?? '';

    const databasesOf = async (run: Bun.Subprocess): Promise<string[]> => {
      await using db = new Bun.SQL(address, { max: 1 });
      const rows = await db.unsafe('select datname from pg_database where starts_with(datname, $1)', [
        `crm_bench_${run.pid}_`,
      ]);
      return rows.map(({ datname }: { datname: string }) => datname);
    };

    test(
      'runs everything there too, and the manual has the same rows',
      async () => {
        const report = await runShort(['--postgres', address, '--against', 'bare-postgres']);
        expectOperations(report, ['crm-postgres'], ['bare-postgres']);
        expectMeasurements(report, ['crm', 'crm-unlogged', 'crm-postgres']);
        expect(labels(between(PAGE, 'bench-postgres'))).toEqual(labels(postgresTables(report)));
        expect(withTables(PAGE, report)).toContain(postgresTables(report));
      },
      LONG,
    );

    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      test(
        `leaves no database there when it is ended by ${signal}`,
        async () => {
          const command = [join(import.meta.dir, 'bench.ts'), '--postgres', address, '--contacts', '1000'];
          const run = Bun.spawn([process.execPath, ...command], {
            env: { ...process.env, CRM_BIN: BINARY },
            stdio: ['ignore', 'ignore', 'ignore'],
          });
          while ((await databasesOf(run)).length === 0) await Bun.sleep(50);
          run.kill(signal);
          expect(await run.exited).toBe(130);
          expect(await databasesOf(run)).toEqual([]);
        },
        LONG,
      );
    }
  });
});
