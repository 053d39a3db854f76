// How long events take: DTEND or DURATION, or the default without them.
import { DAY_MS } from '../../input/instant.ts';
import { quoted } from '../entries.ts';
import { instantAt, type Moment } from './values.ts';
import { utcZone } from './zones.ts';

/** How long an event takes: on the wall clock (days may have 23 or 25 hours), and exactly, in milliseconds. */
export interface Span {
  wallMs: number;
  exactMs: number;
}

// The format of Temporal, without years, months and fractions.
const DURATION = /^[+-]?P(?=.*\d)(?:\d+W)?(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:\d+S)?)?$/;

/** A whole day, or no time at all. */
export function defaultSpan(start: Moment): Span {
  return { wallMs: start.kind === 'date' ? DAY_MS : 0, exactMs: 0 };
}

/** Parses the duration of a property; throws an Error if it is invalid, or too long for Temporal. */
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

/** The time between two moments; within one zone on the wall clock, so that a night shift ends on time at a change. */
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

/** The end for a start, in Unix milliseconds; throws an Error after the year 9999. */
export function endOf({ wall, instant, zone }: Moment, { wallMs, exactMs }: Span): number {
  const end = instantAt(utcZone, instantAt(zone, wall + wallMs) + exactMs);
  // A start that the clock skips uses the offset from before the change, which can be after the end.
  return Math.max(instant, end);
}
