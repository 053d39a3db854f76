// When failed deliveries are tried again.
import { describe, expect, test } from 'bun:test';
import { ATTEMPTS_MAX, readRetryAfter, retryDelayMs } from '../../server/webhooks/retries.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const SCHEDULE = [5_000, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR)];

describe('a delay', () => {
  test.each(SCHEDULE.map((delay, index) => [index + 1, delay] as const))(
    'after attempt %i is %i ms, a tenth more or less',
    (attempt, delay) => {
      expect(retryDelayMs(attempt, null, 0.5)).toBe(delay);
      expect(retryDelayMs(attempt, null, 0)).toBe(delay * 0.9);
      expect(retryDelayMs(attempt, null, 1)).toBe(Math.round(delay * 1.1));
    },
  );

  test('follows no last attempt', () => {
    expect(ATTEMPTS_MAX).toBe(10);
    expect(retryDelayMs(ATTEMPTS_MAX, null, 0.5)).toBeNull();
    expect(retryDelayMs(ATTEMPTS_MAX, 1_000, 0.5)).toBeNull();
  });

  test('is at least what the receiver asks for, up to a day', () => {
    expect(retryDelayMs(1, 60_000, 0.5)).toBe(60_000);
    expect(retryDelayMs(1, 1_000, 0.5)).toBe(5_000);
    expect(retryDelayMs(1, 0, 0.5)).toBe(5_000);
    expect(retryDelayMs(1, 24 * HOUR + 1, 0.5)).toBe(24 * HOUR);
    expect(retryDelayMs(1, Number.POSITIVE_INFINITY, 0.5)).toBe(24 * HOUR);
    expect(retryDelayMs(9, 24 * HOUR, 1)).toBe(Math.round(24 * HOUR * 1.1));
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-01-31T09:30:00Z');

  test.each([
    ['0', 0],
    ['120', 120_000],
    [' 120 ', 120_000],
    ['9'.repeat(400), Number.POSITIVE_INFINITY],
    ['Sat, 31 Jan 2026 09:31:00 GMT', MINUTE],
    ['Sat, 31 Jan 2026 09:29:00 GMT', 0],
  ])('%s is read', (value, ms) => expect(readRetryAfter(value, now)).toBe(ms));

  test.each([
    null,
    '',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    'soon',
    '2026-01-31T09:31:00Z',
    'Sat, 99 Jan 2026 09:31:00 GMT',
  ])('%p is not', (value) => expect(readRetryAfter(value, now)).toBeNull());
});
