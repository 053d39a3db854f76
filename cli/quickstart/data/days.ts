// Days and hours of the demo data, counted from the day it is made.
import { DAY_MS } from '../../input/instant.ts';
import type { Random } from './random.ts';

const QUARTER_MS = 900_000;

/** Midnight UTC, in Unix milliseconds, of the day of an instant. */
export function startOfDay(instant: number): number {
  return Math.floor(instant / DAY_MS) * DAY_MS;
}

/** `YYYY-MM-DD` of an instant, in UTC. */
export function isoDay(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10);
}

/** A quarter of an hour between eight and five on a working day at or just before the given midnight. */
export function workingHour(midnight: number, random: Random): number {
  const weekday = new Date(midnight).getUTCDay();
  const daysBack = weekday === 0 ? 2 : weekday === 6 ? 1 : 0;
  return midnight - daysBack * DAY_MS + random.integer(32, 67) * QUARTER_MS;
}
