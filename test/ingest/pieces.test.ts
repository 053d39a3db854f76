// Files of any length: read in pieces of any size, and written in transactions that leave room for others.
import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test';
import fc from 'fast-check';
import { Findings } from '../../cli/ingest/entries.ts';
import { readRecordings } from '../../cli/ingest/json/recordings.ts';
import { createOrganization } from '../../db/accounts/accounts.ts';
import { ingestAll } from '../../db/ingest/ingest-transaction.ts';
import type { Store } from '../../db/store.ts';
import { fixture } from '../fixtures/ingest/calendar.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { readBookings, readCalendar, readMeetings } from '../support/ingest-readers.ts';

const NOW = Date.parse('2026-03-01T00:00:00Z');
const MEETINGS = [
  { external_id: 'a', title: 'Café — “quoted”, [brackets], {braces}, \\ and 😀' },
  { external_id: 'b', title: 5 },
  { external_id: 'c', description: 'two\nlines' },
];
const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1');

describe('a file reads the same in pieces of any size:', () => {
  test.each([
    ['an array', JSON.stringify(MEETINGS)],
    ['an array over many lines', JSON.stringify(MEETINGS, null, 2)],
    ['an array that is cut off', JSON.stringify(MEETINGS).slice(0, -20)],
    ['NDJSON', MEETINGS.map((one) => JSON.stringify(one)).join('\r\n')],
    ['NDJSON whose first line is broken', `{"external_id":"x"\n${JSON.stringify(MEETINGS[0])}\n`],
    ['one object over many lines', `\n\n${JSON.stringify(MEETINGS[0], null, 2)}\n`],
    ['a byte order mark', `\ufeff${JSON.stringify(MEETINGS)}`],
    ['Latin-1', latin1('{"external_id":"a"}\n{"external_id":"b","title":"Café"}\n{"external_id":"c"}')],
    [
      'Latin-1 in an array',
      latin1('[{"external_id":"a"},\n{"external_id":"b",\n"title":"Café"},\n{"external_id":"c"}]'),
    ],
  ])('%s', async (_, content) => {
    const whole = await readMeetings(content);
    expect(whole.entries.length + whole.faults.length).toBeGreaterThan(0);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 40 }), async (chunkBytes) => {
        expect(await readMeetings(content, chunkBytes)).toEqual(whole);
      }),
      { numRuns: 40 },
    );
  });

  test('a calendar', async () => {
    const calendar = `\ufeff${fixture.replaceAll('\n', '\r\n')}`;
    const whole = await readCalendar(calendar, NOW);
    expect(whole.entries.length).toBeGreaterThan(4);
    for (const chunkBytes of [1, 2, 3, 7, 64, 1_000])
      expect(await readCalendar(calendar, NOW, chunkBytes)).toEqual(whole);
  });

  test('UTF-16 is refused by its first two bytes', async () => {
    const utf16 = Buffer.from('\ufeff[{"external_id":"a"}]', 'utf16le');
    await expect(readMeetings(utf16, 1)).rejects.toThrow('is UTF-16');
    await expect(readBookings(utf16, 1)).rejects.toThrow('is UTF-16');
  });
});

describe('entries come as soon as they are complete', () => {
  test.each([
    ['in one line', '[', ',', ']'],
    ['a line each', '', '\n', '\n'],
  ])('%s', async (_, before, between, after) => {
    const entries = Array.from({ length: 100 }, (_, index) => `{"external_id":"${index}"}${between}`);
    // How many had come when each piece was asked for.
    const counts: number[] = [];
    let come = 0;
    async function* inPieces() {
      for (const text of [before, ...entries, after]) {
        counts.push(come);
        yield new TextEncoder().encode(text);
      }
    }
    for await (const _ of readRecordings(inPieces(), 'test.json', new Findings())) come += 1;
    // The very last one may wait for what follows it.
    expect(counts.at(-1)).toBeGreaterThanOrEqual(99);
    expect(Math.max(...counts.map((count, at) => count - (counts[at - 1] ?? 0)))).toBeLessThanOrEqual(1);
    expect(come).toBe(100);
  });
});

describe('writing', () => {
  let harness: Harness;
  let orgNumber = 0;
  beforeAll(async () => {
    harness = await startHarness();
    orgNumber = (await harness.store.write('accounts', (trx) => createOrganization(trx, 'Pieces', NOW)))
      .number;
  });
  afterAll(() => harness.close());

  async function ingest(count: number, itemMs: number) {
    const jobs: { ms: number; pauseMs: number }[] = [];
    // The work takes as long as it says, however busy the machine is.
    let nowMs = 0;
    using _ = spyOn(performance, 'now').mockImplementation(() => nowMs);
    let endedAt = Bun.nanoseconds();
    const store: Store = {
      ...harness.store,
      write: async (scope, job) => {
        const pauseMs = (Bun.nanoseconds() - endedAt) / 1e6;
        const startedMs = nowMs;
        const result = await harness.store.write(scope, job);
        endedAt = Bun.nanoseconds();
        jobs.push({ ms: nowMs - startedMs, pauseMs });
        return result;
      },
    };
    let given = 0;
    let written = 0;
    let aheadMax = 0;
    function* items() {
      for (; given < count; given += 1) {
        aheadMax = Math.max(aheadMax, given - written);
        yield given;
      }
    }
    const progress: number[] = [];
    const options = {
      orgNumber,
      createdBy: 'o',
      ownerId: null,
      clock: () => NOW,
      onProgress: (done: number) => progress.push(done),
    };
    await ingestAll(store, options, {
      items: items(),
      write: async () => {
        nowMs += itemMs;
        written += 1;
      },
    });
    return { jobs, written, aheadMax, progress };
  }

  test('takes a hundred quick items at once, and no more', async () => {
    const { jobs, written, aheadMax, progress } = await ingest(1_000, 0);
    expect([written, progress.at(-1)]).toEqual([1_000, 1_000]);
    // 1, 2, 4 and so on up to 64, and then a hundred each.
    expect(jobs.length).toBe(16);
    expect(aheadMax).toBeLessThanOrEqual(100);
  });

  test('ends a transaction in time where items are slow, and gives way after each', async () => {
    const { jobs, written, aheadMax } = await ingest(60, 10);
    expect(written).toBe(60);
    expect(jobs.map(({ ms }) => ms)).toEqual([10, 20, 40, ...Array(10).fill(50), 30]);
    expect(aheadMax).toBeLessThanOrEqual(10);
    expect(jobs.slice(1).every(({ pauseMs }) => pauseMs >= 4)).toBe(true);
  });
});
