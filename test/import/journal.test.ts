// The journal of an import by itself: what its lines make, what a crash leaves of it, and that it stays small.
import { afterAll, describe, expect, test } from 'bun:test';
import { appendFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { Journal } from '../../cli/import/session/journal.ts';
import { isOpen, type JournalHeader, type Pass } from '../../cli/import/session/journal-state.ts';
import { RowRanges } from '../../cli/import/session/row-ranges.ts';

const folder = mkdtempSync(join(tmpdir(), 'crm-journal-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

const HEADER: JournalHeader = {
  ...{ content: 'c', mapping: 'm', resource: 'tasks', server: 'http://x', keyDigest: 'k' },
  ...{ organizationId: 'o', salt: '', batchSize: 2, startedAt: '2026-01-01T00:00:00.000Z' },
};
const pass = (number: number): Pass => ({ number, keyPrefix: `p${number}`, settings: `${number}` });
const COUNTS = { created: 0, updated: 0, skipped: 0, rejected: 0 };

let files = 0;
function begin(): { path: string; journal: Journal } {
  files += 1;
  const path = join(folder, `${files}.crm-journal`);
  return { path, journal: Journal.begin(path, HEADER, pass(1)) };
}

function resumed(path: string): Journal {
  const journal = Journal.resume(path);
  if (journal === undefined) throw new Error('there is no journal');
  return journal;
}

const batch = (number: number, text = 'x') => ({
  number,
  sentAt: 1,
  rows: [{ line: number, body: { text } }],
});

/** Deals with the rows from `from` on, two a batch, and rejects those asked for. */
function deal(journal: Journal, rows: readonly number[], rejected: readonly number[]): void {
  for (let at = 0; at < rows.length; at += 2) {
    const number = journal.state.batches + 1;
    const two = rows.slice(at, at + 2);
    journal.send(batch(number));
    const bad = two.filter((row) => rejected.includes(row));
    const { counts } = journal.state;
    journal.settle({
      ...{ batch: number, rows: journal.state.rows + two.length, rejected: bad, reach: two.at(-1) ?? -1 },
      counts: {
        ...counts,
        created: counts.created + two.length - bad.length,
        rejected: counts.rejected + bad.length,
      },
      errors: null,
    });
  }
}

const openRows = (journal: Journal, count: number): number[] =>
  Array.from({ length: count }, (_, index) => index).filter((index) => isOpen(journal.state, index));

describe('a journal', () => {
  test('tells a later run what an earlier one did, and what was sent without an answer', () => {
    const { path, journal } = begin();
    deal(journal, [0, 1, 2, 3], [1]);
    journal.send(batch(3));
    const { state } = resumed(path);
    expect(JSON.stringify(state)).toBe(JSON.stringify(journal.state));
    expect(state).toMatchObject({ rows: 4, batches: 2, counts: { created: 3, rejected: 1 }, reach: 3 });
    expect(state.pending.map(({ number }) => number)).toEqual([3]);
  });

  test('has lost a line that was cut short, and nothing else; the next line takes its place', () => {
    const { path, journal } = begin();
    deal(journal, [0, 1], []);
    journal.close();
    appendFileSync(path, '{"sent":{"number":2,"se');
    const again = resumed(path);
    expect(again.state).toMatchObject({ rows: 2, pending: [] });
    deal(again, [2, 3], []);
    expect(resumed(path).state).toMatchObject({ rows: 4, pending: [] });
  });

  test('goes over what could not be brought in, and over what was not reached, until nothing is left', () => {
    const { path, journal } = begin();
    deal(journal, [0, 1, 2, 3, 4, 5], [1, 2, 5]);
    journal.beginPass(pass(2));
    expect(openRows(resumed(path), 10)).toEqual([1, 2, 5, 6, 7, 8, 9]);
    deal(journal, [1, 2], [2]);
    journal.beginPass(pass(3));
    expect(openRows(resumed(path), 10)).toEqual([2, 5, 6, 7, 8, 9]);
    deal(journal, [2, 5, 6, 7, 8, 9], []);
    journal.finish();
    expect(resumed(path).state).toMatchObject({
      accepted: { created: 4 },
      counts: { created: 6 },
      finishedAt: expect.any(String),
    });
    journal.beginPass(pass(4));
    expect(openRows(resumed(path), 10)).toEqual([]);
  });

  test('stays small, however many rows go through it', () => {
    const { path, journal } = begin();
    const text = 'x'.repeat(1_000_000);
    let largest = 0;
    for (let number = 1; number <= 30; number += 1) {
      journal.send(batch(number, text));
      journal.settle({
        batch: number,
        rows: number,
        counts: COUNTS,
        reach: number,
        rejected: [number],
        errors: null,
      });
      largest = Math.max(largest, statSync(path).size);
    }
    expect(largest).toBeLessThan(10_000_000);
    expect(resumed(path).state.rejected.size).toBe(30);
    journal.finish();
    expect(statSync(path).size).toBeLessThan(1_000);
    expect(resumed(path).state.rejected.size).toBe(30);
  });
});

test('ranges of rows are the set of these rows', () => {
  const indexes = fc.uniqueArray(fc.nat(60)).map((list) => list.toSorted((one, other) => one - other));
  fc.assert(
    fc.property(indexes, indexes, fc.integer({ min: -1, max: 61 }), (one, other, reach) => {
      const make = (list: number[]): RowRanges => {
        const ranges = new RowRanges();
        for (const index of list) ranges.add(index);
        return new RowRanges(JSON.parse(JSON.stringify(ranges)));
      };
      const members = (ranges: RowRanges): number[] =>
        Array.from({ length: 70 }, (_, index) => index).filter((index) => ranges.has(index));
      expect(members(make(one))).toEqual(one);
      expect(make(one).size).toBe(one.length);
      const before = one.filter((index) => index <= reach);
      const expected = [...before, ...other.filter((index) => index > reach)];
      expect(members(make(before).withThoseAfter(make(other), reach))).toEqual(expected);
    }),
  );
});
