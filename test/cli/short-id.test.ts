// Short IDs: every ID has one, no other record of its batch has the same, and it says where to look for the record.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { idRangeOf, shortIdOf } from '../../cli/input/short-id.ts';
import { relativeTime } from '../../cli/terminal/relative-time.ts';
import { recordId } from '../../db/tables/record-id.ts';

const instants = fc.integer({ min: Date.UTC(2020, 0), max: Date.now() });

test('a short ID leads back to its ID, however it is typed', () => {
  fc.assert(
    fc.property(instants, (ms) => {
      const id = recordId(ms);
      const short = shortIdOf(id);
      expect(short).toMatch(/^[0-9a-z]{10}$/);
      for (const typed of [short, short.toUpperCase(), short.replaceAll('0', 'o').replaceAll('1', 'l')]) {
        const range = idRangeOf(typed);
        expect([range?.fromMs, range?.untilMs, range?.has(id)]).toEqual([ms, ms, true]);
      }
    }),
  );
});

test('the records of a batch have different ones', () => {
  const now = Date.now();
  expect(new Set(Array.from({ length: 200 }, () => shortIdOf(recordId(now)))).size).toBe(200);
});

test('the beginning of an ID means those of its time that begin so', () => {
  fc.assert(
    fc.property(instants, fc.integer({ min: 4, max: 35 }), (ms, length) => {
      const id = recordId(ms);
      const range = idRangeOf(id.slice(0, length));
      expect(range?.has(id)).toBe(true);
      expect(range?.fromMs).toBeLessThanOrEqual(ms);
      expect(range?.untilMs).toBeGreaterThanOrEqual(ms);
      expect(range?.has(recordId((range?.untilMs ?? 0) + 1))).toBe(false);
    }),
  );
});

test.each(['Acme', 'kubernetes', 'ada@x.example', '01a', '019b76da-a800-7000-8000-000000000000', ''])(
  '%p is no short ID',
  (text) => {
    expect(idRangeOf(text)).toBeUndefined();
  },
);

test.each([
  [0, 'now'],
  [-59_000, 'now'],
  [-5 * 60_000, '5 min ago'],
  [3 * 3_600_000, 'in 3 h'],
  [-30 * 3_600_000, '1 day ago'],
  [12 * 86_400_000, 'in 12 days'],
  [-40 * 86_400_000, '2026-10-12'],
])('a time %d ms away is %s', (distance, text) => {
  const now = Date.UTC(2026, 10, 21);
  expect(relativeTime(now + distance, now)).toBe(text);
});
