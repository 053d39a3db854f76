// Instants and durations as the command line takes them.
import { expect, test } from 'bun:test';
import { isoMilliseconds } from '../../cli/input/instant.ts';
import { durationMs } from '../../cli/settings/options.ts';

test.each([
  ['2026-03-31', '2026-03-31T00:00:00.000Z'],
  ['2026-03-31T09:00Z', '2026-03-31T09:00:00.000Z'],
  ['2026-03-31T09:00:30.1239999999999+05:30', '2026-03-31T03:30:30.123Z'],
  ['0000-02-29', '0000-02-29T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
])('%s is an instant', (text, expected) => {
  expect(new Date(isoMilliseconds(text) ?? Number.NaN).toISOString()).toBe(expected);
});

test.each([
  '2026-02-30',
  '2025-02-29T09:00Z',
  '2026-3-31',
  '2026-03-31T09:00',
  '2026-03-31 09:00Z',
  '2026-03-31T24:00Z',
  '2026-03-31T09:60Z',
  '2026-03-31T09:00:60Z',
  '2026-03-31T09:00+24:00',
  '2026-03-31T09:00Z[Europe/Berlin]',
  'tomorrow',
])('%s is none', (text) => {
  expect(isoMilliseconds(text)).toBeUndefined();
});

test.each([
  ['0', 0],
  ['45s', 45_000],
  ['30m', 1_800_000],
  ['12h', 43_200_000],
  ['90d', 7_776_000_000],
  ['999999w', 604_799_395_200_000],
  ['1y', undefined],
  ['1h30m', undefined],
  ['-1d', undefined],
])('%s lasts %p ms', (text, expected) => {
  expect(durationMs(text)).toBe(expected);
});
