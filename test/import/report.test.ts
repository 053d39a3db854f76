// What the parts of an import or export tell one display, one after the other.
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '../../cli/api/client.ts';
import { ExportDisplay } from '../../cli/export/display.ts';
import { exportAll } from '../../cli/export/export-all.ts';
import { Reporter } from '../../cli/import/session/report.ts';
import type { ProgressOptions } from '../../cli/terminal/progress.ts';
import type { ProgressState } from '../../cli/terminal/progress-text.ts';
import { generateKey } from '../../db/tables/key-format.ts';

test('every part is counted from its own beginning', async () => {
  const shown: [label: string, state: ProgressState][] = [];
  const reporter = new Reporter(false, async ({ label }) => ({
    update: (state) => void shown.push([label, state]),
    wait: () => {},
    stop: async () => {},
  }));
  await reporter.start({ label: 'notes', unit: 'rows', total: 9 });
  reporter.settled(9, { created: 5, updated: 1, skipped: 1, rejected: 2 });
  await reporter.stop();
  await reporter.start({ label: 'links', unit: 'links', total: 3, startAt: 1 });
  reporter.settled(2, { created: 1, updated: 0, skipped: 0, rejected: 0 });
  expect(shown).toEqual([
    ['notes', { done: 0, ok: 0, failed: 0, skipped: 0, reasons: [] }],
    ['notes', { done: 9, ok: 6, failed: 2, skipped: 1, reasons: [] }],
    ['links', { done: 1, ok: 0, failed: 0, skipped: 0, reasons: [] }],
    ['links', { done: 2, ok: 1, failed: 0, skipped: 0, reasons: [] }],
  ]);
});

test('an export counts records, and not those whose links it looks for', () => {
  const display = new ExportDisplay(true);
  display.update({ done: 5 });
  display.settle(5);
  display.show({ done: 3 });
  expect(display.records).toBe(5);
});

/** What the display of an export of everything is told, part by part, if the server has just these lists. */
async function exported(lists: Record<string, object[][]>) {
  const shown: { options: ProgressOptions; states: ProgressState[]; waits: string[] }[] = [];
  let isLimited = true;
  await using server = Bun.serve({
    port: 0,
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      const list = lists[searchParams.get('of') ?? pathname.slice('/api/v2/'.length)] ?? [[]];
      const index = Number(searchParams.get('cursor') ?? 0);
      if (index === 1 && isLimited) {
        isLimited = false;
        const error = { code: 'RATE_LIMIT_EXCEEDED', message: 'Wait.' };
        return Response.json({ object: 'error', error }, { status: 429, headers: { 'retry-after': '0' } });
      }
      const isNewest = searchParams.get('sort_direction') === 'desc';
      const data = isNewest ? [list.at(-1)?.at(-1)] : list[index];
      const next = isNewest || index + 1 >= list.length ? null : String(index + 1);
      const page_info = { has_next_page: next !== null, end_cursor: next };
      return Response.json({ object: 'list', data, page_info }, { headers: { 'x-ratelimit-limit': '200' } });
    },
  });
  const display = new ExportDisplay(false, async (options) => {
    const part = { options, states: [] as ProgressState[], waits: [] as string[] };
    shown.push(part);
    return {
      update: (state) => void part.states.push(state),
      wait: ({ reason }) => void part.waits.push(reason),
      stop: async () => {},
    };
  });
  const url = `http://127.0.0.1:${server.port}`;
  const client = new Client({ url, apiKey: generateKey('service_live'), onWait: display.onWait });
  const folder = mkdtempSync(join(tmpdir(), 'crm-export-'));
  try {
    const how = { format: 'ndjson', isExcelSafe: false, isResumed: false } as const;
    await exportAll({ ...how, client, url, display, target: join(folder, 'all'), subject: '' });
  } finally {
    rmSync(folder, { recursive: true });
  }
  return shown;
}

test('an export of everything tells from the first page how much there may be: by time, and of links by records', async () => {
  const deal = (day: number) => ({ id: `0${day}`, created_at: `2026-01-0${day}T00:00:00.000Z` });
  const link = (parent: number) => ({ parent_id: `0${parent}`, id: '01' });
  const [deals, links, ...others] = await exported({
    deals: [
      [deal(1), deal(3)],
      [deal(5), deal(9)],
    ],
    contacts: [[{ id: '01', created_at: '2026-01-01T00:00:00.000Z' }]],
    'deals.contacts': [[link(1)], [link(3), link(5)]],
    'deals.companies': [[]],
  });
  expect(others).toEqual([]);
  // A quarter of the time between the first and the last has two deals.
  const ofDeals = { label: 'Exporting deals', total: null, about: 8, startAt: 0, ratePerMinuteMax: 40_000 };
  expect(deals?.options).toMatchObject(ofDeals);
  expect(deals?.states.map(({ done, share }) => [done, share]).slice(-1)).toEqual([[4, 1]]);
  expect(deals?.waits).toEqual(['rate limit']);
  // Four deals may have a contact and a company each.
  expect(links?.options).toMatchObject({ label: 'Exporting links', about: 8, ratePerMinuteMax: 40_000 });
  expect(links?.states.slice(0, 3)).toEqual([
    { done: 1, share: 1 / 8 },
    { done: 3, share: 3 / 7 },
    { done: 3, share: 1 },
  ]);
});
