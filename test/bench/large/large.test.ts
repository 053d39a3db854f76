// `bun run bench --large` with a few hundred contacts: that each question finds something, and that the manual has the same rows.
import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freshFile, isPostgres } from '../../support/fresh-databases.ts';
import { between } from '../markdown.ts';
import { withoutIndexes } from './bare-tables.ts';
import { HAND_QUESTIONS } from './by-hand.ts';
import { largeTables } from './markdown.ts';
import { QUESTIONS } from './questions.ts';
import { Records } from './records.ts';
import type { LargeReport } from './report.ts';
import { Wording } from './wording.ts';
import { busiest, countsAt, worldAt } from './world.ts';

// On a machine that has much else to do.
const LONG = 1_200_000;
const SCALE = 0.0003;

const ROOT = join(import.meta.dir, '../../..');
const BINARY = join(ROOT, 'dist/crm');
const PAGE = readFileSync(join(ROOT, 'cli/manual/performance.md'), 'utf8');

const folder = mkdtempSync(join(tmpdir(), 'crm-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.skipIf(isPostgres)(
  'a file that was filled without indexes has them, and what the planner knows, as before',
  async () => {
    const path = join(folder, 'bare.db');
    await freshFile(path);
    const known = () => {
      using db = new Database(path, { readonly: true });
      return [
        db.query('select name, sql from sqlite_schema order by name').all(),
        db.query('select * from sqlite_stat1 order by tbl, idx').all(),
      ];
    };
    const before = known();
    await withoutIndexes(path, ['interactions', 'contacts'], async () => expect(known()).not.toEqual(before));
    expect(known()).toEqual(before);
  },
);

describe('the records of a large database', () => {
  const now = Date.UTC(2026, 0, 1);
  const ground = { orgNumber: 1, users: ['a', 'b'], stages: [{ id: 's', pipeline_id: 'p', type: 'open' }] };
  const world = worldAt(0.01, 1, now);
  const made = (seed: number, count: number) => {
    const records = new Records(world, new Wording(seed), ground);
    return Array.from({ length: count }, (_, index) => {
      records.rowsOf('companies', index);
      return records.rowsOf('contacts', index).contacts?.[0] ?? {};
    });
  };

  test('are the same for the same seed, and others for another', () => {
    const named = (seed: number) => made(seed, 50).map(({ email, phone, title }) => [email, phone, title]);
    expect(named(1)).toEqual(named(1));
    expect(named(1)).not.toEqual(named(2));
  });

  test('have addresses of their own, and names of which some are common', () => {
    const contacts = made(1, 2_000);
    expect(new Set(contacts.map(({ email }) => email)).size).toBe(2_000);
    const byName = Map.groupBy(contacts, ({ last_name }) => last_name);
    expect(byName.size).toBeGreaterThan(500);
    expect(Math.max(...[...byName.values()].map(({ length }) => length))).toBeGreaterThan(10);
  });

  test('have companies and contacts with one other to many', () => {
    const [large = 0] = busiest(1, world.counts.companies);
    const contacts = world.companyOf.filter((company) => company === large);
    expect(contacts.length).toBeGreaterThan(100);
    const [busy = 0] = busiest(1, world.counts.contacts);
    expect(world.contactOf.filter((contact) => contact === busy).length).toBeGreaterThan(100);
  });
});

/** The first cells of all rows of all tables. */
const labels = (markdown: string) => [...markdown.matchAll(/^\| ([^|]*) \|/gm)].map(([, label]) => label);

async function runLarge(...args: readonly string[]): Promise<LargeReport> {
  const json = join(folder, 'report.json');
  const command = [process.execPath, join(ROOT, 'test/bench/bench.ts'), '--large', String(SCALE), '--short'];
  const child = Bun.spawn([...command, '--json', json, ...args], {
    env: { ...process.env, CRM_BIN: BINARY },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  expect([code, stderr]).toEqual([0, '']);
  return (await Bun.file(json).json()) as LargeReport;
}

function expectAnswers({ engines }: LargeReport, name: string) {
  const [engine] = engines;
  if (engine === undefined) throw new Error('no engine was measured');
  expect(engine.engine as string).toBe(name);
  expect(engine.answers.map((one) => [one.name, one.refused])).toEqual(
    QUESTIONS.map((question) => [question.name, null]),
  );
  for (const { p50, p99, count } of engine.answers) {
    expect(Math.min(p50, count)).toBeGreaterThan(0);
    expect(p99).toBeGreaterThanOrEqual(p50);
  }
  // Nothing has both names, and few contacts meet all conditions.
  const empty = ['search-never-meet', 'query-contacts'];
  const isSure = (one: { name: string }) => !empty.includes(one.name);
  const found = engine.answers.filter((one) => isSure(one) && one.items > 0).map((one) => one.name);
  expect(found).toEqual(QUESTIONS.filter(isSure).map((one) => one.name));
  expect(engine.writes.map(({ flags }) => flags)).toEqual(['', '--changes-days 0']);
  expect(engine.filled.map((part) => part.name).toSorted()).toEqual(['search', 'timeline']);
  expect(engine.searchBytesPerContact).toBeGreaterThan(0);
  return engine;
}

describe.skipIf(!existsSync(BINARY))('the benchmark (needs dist/crm: bun run build)', () => {
  test.skipIf(isPostgres)(
    'fills a file, lets crm fill in the rest, and asks everything',
    async () => {
      const report = await runLarge();
      const engine = expectAnswers(report, 'crm');
      expect(report.counts).toEqual(countsAt(SCALE));
      expect(engine.byHand).toBeNull();
      expect(labels(largeTables(report, engine))).toEqual(
        expect.arrayContaining(labels(between(PAGE, 'bench-large'))),
      );
    },
    LONG,
  );

  test.skipIf(!isPostgres)(
    'does so on PostgreSQL, where it also asks by hand (needs CRM_TEST_DB)',
    async () => {
      const report = await runLarge('--only', 'crm-postgres', '--postgres', process.env.CRM_TEST_DB ?? '');
      const engine = expectAnswers(report, 'crm-postgres');
      expect(engine.byHand?.answers.map(({ besides }) => besides)).toEqual(
        HAND_QUESTIONS.map(({ besides }) => besides),
      );
    },
    LONG,
  );
});
