// How long events take: DTEND or DURATION, or what holds where there is neither.
import { DAY_MS } from '../../input/instant.ts';
import type { Moment } from './values.ts';

/** How long an event takes: on the wall's clock (days are as long as they are) and exactly, in milliseconds. */
export interface Span {
  wallMs: number;
  exactMs: number;
}

const DURATION = /^([+-]?)P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/;

/** A whole day, or no time at all. */
export function defaultSpan(start: Moment): Span {
  return { wallMs: start.kind === 'date' ? DAY_MS : 0, exactMs: 0 };
}

/** Reads a duration; throws an Error if it is none. */
export function readDuration(text: string): Span {
  const match = DURATION.exec(text);
  if (match === null || !/\d/.test(text)) throw new Error('DURATION must be like PT1H30M');
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(2)
    .map((part) => Number(part ?? 0));
  const sign = match[1] === '-' ? -1 : 1;
  const exactSeconds = hours * 3_600 + minutes * 60 + seconds;
  return { wallMs: sign * (weeks * 7 + days) * DAY_MS, exactMs: sign * exactSeconds * 1_000 };
}

/** The time between; in one zone the clock counts, so that a night shift ends on time when the clocks change. */
export function spanBetween(start: Moment, end: Moment): Span {
  const isSameClock = start.zone === end.zone && start.kind === end.kind;
  return isSameClock
    ? { wallMs: end.wall - start.wall, exactMs: 0 }
    : { wallMs: 0, exactMs: end.instant - start.instant };
}
