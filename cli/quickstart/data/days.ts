// Days and hours of the demo data, counted from the day of its creation.
import { DAY_MS } from '../../input/instant.ts';
import type { Random } from './random.ts';

const QUARTER_MS = 900_000;
const FRIDAY = 5;

/** Midnight UTC, in Unix milliseconds, of the day of an instant. */
export function midnightBefore(instant: number): number {
  return Math.floor(instant / DAY_MS) * DAY_MS;
}

/** `YYYY-MM-DD` of an instant, in UTC. */
export function isoDay(instant: number): string {
  return dateOf(instant).toString();
}

/** A quarter of an hour between eight and five on a working day at or just before the given midnight. */
export function workingHour(midnight: number, random: Random): number {
  const daysBack = Math.max(0, dateOf(midnight).dayOfWeek - FRIDAY);
  return midnight - daysBack * DAY_MS + random.integer(32, 67) * QUARTER_MS;
}

function dateOf(instant: number): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO('UTC').toPlainDate();
}
