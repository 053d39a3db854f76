// How long events take: DTEND or DURATION, or what holds where there is neither.
import { DAY_MS } from '../../input/instant.ts';
import { quoted } from '../entries.ts';
import { instantAt, type Moment } from './values.ts';
import { utcZone } from './zones.ts';

/** How long an event takes: on the wall's clock (days are as long as they are) and exactly, in milliseconds. */
export interface Span {
  wallMs: number;
  exactMs: number;
}

// What Temporal takes too, without its years, months and fractions.
const DURATION = /^[+-]?P(?=.*\d)(?:\d+W)?(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:\d+S)?)?$/;

/** A whole day, or no time at all. */
export function defaultSpan(start: Moment): Span {
  return { wallMs: start.kind === 'date' ? DAY_MS : 0, exactMs: 0 };
}

/** Reads the duration that a property has; throws an Error if it is none, or longer than Temporal counts. */
export function readDuration(name: string, text: string): Span {
  if (!DURATION.test(text)) throw new Error(`${name} must be like PT1H30M, not ${quoted(text)}`);
  try {
    const { weeks, days, hours, minutes, seconds } = Temporal.Duration.from(text.replace(/T$/, ''));
    const clock = Temporal.Duration.from({ hours, minutes, seconds });
    return { wallMs: (weeks * 7 + days) * DAY_MS, exactMs: clock.total('milliseconds') };
  } catch {
    throw new Error(`${name} is longer than any event: ${quoted(text)}`);
  }
}

/** The time between; in one zone the clock counts, so that a night shift ends on time when the clocks change. */
export function spanBetween(start: Moment, end: Moment): Span {
  const isSameClock = start.zone === end.zone && start.kind === end.kind;
  return isSameClock
    ? { wallMs: end.wall - start.wall, exactMs: 0 }
    : { wallMs: 0, exactMs: end.instant - start.instant };
}

/** Whether it takes some time, or none. */
export function isForward({ wallMs, exactMs }: Span): boolean {
  return wallMs + exactMs >= 0;
}

/** When what starts then ends, Unix milliseconds; throws an Error beyond the year 9999. */
export function endOf({ wall, instant, zone }: Moment, { wallMs, exactMs }: Span): number {
  const end = instantAt(utcZone, instantAt(zone, wall + wallMs) + exactMs);
  // A start that the clock leaps over counts from before the leap, which can be after the end.
  return Math.max(instant, end);
}
