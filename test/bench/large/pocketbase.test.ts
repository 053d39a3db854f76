// What PocketBase is asked beside crm; with CRM_POCKETBASE, the path of its executable, that both answer.
import { describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPostgres } from '../../support/fresh-databases.ts';
import { between } from '../markdown.ts';
import { ASKED_OF_BOTH, pocketBasePaths } from './beside-pocketbase.ts';
import type { LargeReport } from './report.ts';

const LONG = 300_000;
const ROOT = join(import.meta.dir, '../../..');
const BINARY = join(ROOT, 'dist/crm');
const PAGE = readFileSync(join(ROOT, 'cli/manual/performance.md'), 'utf8');
const EXECUTABLE = process.env.CRM_POCKETBASE ?? '';

const get = (path: string) => ({ method: 'GET' as const, path });
const asked = (name: string, request: Parameters<typeof pocketBasePaths>[1]) =>
  pocketBasePaths(name, request).map(decodeURIComponent);

describe('PocketBase is sent', () => {
  test('a search as a condition of three fields for each word', () => {
    const search = get(`search?q=${encodeURIComponent("Ada O'Brien")}`);
    expect(asked('search-two-words', search)).toEqual([
      "contacts/records?filter=(first_name ~ 'Ada' || last_name ~ 'Ada' || email ~ 'Ada') && " +
        "(first_name ~ 'O\\'Brien' || last_name ~ 'O\\'Brien' || email ~ 'O\\'Brien')" +
        '&sort=-created_at&perPage=20&skipTotal=1',
    ]);
  });

  test('a query as a filter of the same conditions', () => {
    const filter = { and: [{ owner_id: 'x' }, { keep_in_touch: true }, { estimated_value: { gte: 5 } }] };
    const query = { method: 'POST' as const, path: 'deals/query', body: { filter } };
    expect(asked('query-value', query)).toEqual([
      "deals/records?filter=owner = 'x' && keep_in_touch = true && estimated_value >= 5" +
        '&sort=-estimated_value&perPage=50&skipTotal=1',
    ]);
  });

  test('a timeline as four lists', () => {
    const lists = asked('timeline-contact', get('contacts/abc/timeline'));
    expect(lists.map((path) => path.split('/')[0])).toEqual([
      'interaction_contacts',
      'note_records',
      'deal_contacts',
      'tasks',
    ]);
    for (const path of lists) expect(path).toContain(" = 'abc'&sort=-");
  });
});

test('the manual has what both were asked', () => {
  const rows = [...between(PAGE, 'bench-pocketbase').matchAll(/^\| ([^|]*) \|/gm)].map(([, label]) => label);
  expect(rows).toEqual(['question', ...ASKED_OF_BOTH.map(({ label }) => label)]);
});

test.skipIf(isPostgres || EXECUTABLE === '' || !existsSync(BINARY))(
  'both answer every question, and find the same record by its address (needs dist/crm, and CRM_POCKETBASE)',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'crm-test-'));
    const json = join(folder, 'report.json');
    const command = [process.execPath, join(ROOT, 'test/bench/bench.ts'), '--large', '0.0003', '--short'];
    const child = Bun.spawn([...command, '--pocketbase', EXECUTABLE, '--json', json], {
      env: { ...process.env, CRM_BIN: BINARY },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    expect([code, stderr]).toEqual([0, '']);
    const [engine] = ((await Bun.file(json).json()) as LargeReport).engines;
    const { version = '', answers = [] } = engine?.pocketbase ?? {};
    expect(version).toStartWith('PocketBase ');
    expect(answers.map(({ name }) => name)).toEqual(ASKED_OF_BOTH.map(({ name }) => name));
    for (const { name, crm, pocketbase } of answers) {
      expect(Math.min(crm.p50, pocketbase.p50)).toBeGreaterThan(0);
      if (name === 'search-email' || name === 'get') expect([crm.items, pocketbase.items]).toEqual([1, 1]);
    }
    rmSync(folder, { recursive: true });
  },
  LONG,
);
