// Parses days and times of iCalendar, with their time zone.
import { INSTANT_MS_MAX, INSTANT_MS_MIN } from '../../../db/model/fields.ts';
import { messageOf } from '../../errors.ts';
import { DAY_MS } from '../../input/instant.ts';
import { quoted } from '../entries.ts';
import type { Property } from './property.ts';
import { floatingZone, utcZone, type Zone } from './zones.ts';

export const MOMENT_KINDS = ['date', 'floating', 'zoned'] as const;

/** A day or a time on the clock of a zone. */
export interface Moment {
  kind: (typeof MOMENT_KINDS)[number];
  /** See `Zone`. */
  wall: number;
  /** Unix milliseconds. */
  instant: number;
  zone: Zone;
}

/** How to read times of one calendar. */
export interface TimeContext {
  zones: { get(tzid: string): Zone };
  /** The zone of days and of times without a zone, from X-WR-TIMEZONE. */
  defaultZone: Zone | null;
}

// Some programs leave out seconds, others add a Z to days.
const TIME = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})?)?(Z?)$/i;

/** Parses a day or a time of iCalendar; undefined if it is neither, or does not exist. */
export function readTime(text: string): { kind: 'date' | 'utc' | 'local'; wall: number } | undefined {
  const match = TIME.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  if (year < 1 || second > 60) return undefined;
  // Second 60 is a leap second, which clocks here skip.
  const fields = { year, month, day, hour, minute, second: Math.min(second, 59), timeZone: 'UTC' };
  try {
    const wall = Temporal.ZonedDateTime.from(fields, { overflow: 'reject' }).epochMilliseconds;
    return { kind: match[4] === undefined ? 'date' : match[7] === '' ? 'local' : 'utc', wall };
  } catch {
    return undefined;
  }
}

/** The moments of a property such as DTSTART or EXDATE; throws an Error that says what is wrong. */
export function momentsOf(name: string, property: Property, context: TimeContext): Moment[] {
  return property.value.split(',').map((text) => momentOf(name, text.trim(), property, context));
}

/** The moment of one value of a property; throws an Error that says what is wrong. */
export function momentOf(name: string, text: string, { params }: Property, context: TimeContext): Moment {
  const time = readTime(text);
  if (time === undefined) throw new Error(`${name} is not a date or time: ${quoted(text)}`);
  const ownZone = context.defaultZone ?? floatingZone;
  if (time.kind === 'date' || params.value?.toUpperCase() === 'DATE') {
    return momentAt('date', startOfDay(time.wall), ownZone);
  }
  if (time.kind === 'utc') return momentAt('zoned', time.wall, utcZone);
  if (params.tzid === undefined) return momentAt('floating', time.wall, ownZone);
  try {
    return momentAt('zoned', time.wall, context.zones.get(params.tzid));
  } catch (error) {
    throw new Error(`${name} ${messageOf(error)}`);
  }
}

/** The moment of a wall time in a zone; throws an Error if it is out of range for a record. */
export function momentAt(kind: Moment['kind'], wall: number, zone: Zone): Moment {
  return { kind, wall, zone, instant: instantAt(zone, wall) };
}

/** The Unix milliseconds of a wall time in a zone; throws an Error if it is out of range for a record. */
export function instantAt(zone: Zone, wall: number): number {
  const isNear = Math.abs(wall) <= INSTANT_MS_MAX + DAY_MS;
  const instant = isNear ? zone.toInstant(wall) : Number.NaN;
  if (instant >= INSTANT_MS_MIN && instant <= INSTANT_MS_MAX) return instant;
  throw new Error('a time of the event is after the year 9999');
}

/** The last of the ordered moments that is not after the instant. */
export function lastUntil<T>(
  sorted: readonly T[],
  instant: number,
  instantOf: (one: T) => number,
): T | undefined {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const one = sorted[middle];
    if (one !== undefined && instantOf(one) <= instant) low = middle + 1;
    else high = middle;
  }
  return sorted[low - 1];
}

/** Midnight of the day of a wall time. */
export function startOfDay(wall: number): number {
  return Math.floor(wall / DAY_MS) * DAY_MS;
}

/** A moment in an external ID: a day, a floating time, or a time in UTC. */
export function momentKey({ kind, wall, instant }: Moment): string {
  const text = new Date(kind === 'zoned' ? instant : wall).toISOString().replace(/[-:]|\.\d{3}/g, '');
  if (kind === 'date') return text.slice(0, 8);
  return kind === 'zoned' ? text : text.replace('Z', '');
}
