// Single values of iCalendar: content lines parsed by ical.js, and moments with the zone they are told in.
import ICAL from 'ical.js';
import { messageOf } from '../../errors.ts';
import type { ContentLine } from './blocks.ts';
import { floatingZone, utc, type Zone, type ZoneTable } from './zones.ts';

/** One content line, taken apart and unescaped. */
export interface Property {
  line: number;
  /** Names in lower case. */
  params: Record<string, string>;
  /** jCal's name of the value type. */
  type: string;
  values: unknown[];
}

/** A day or a time on the clock of a zone. */
export interface Moment {
  kind: 'date' | 'floating' | 'zoned';
  /** As `Zone` has it. */
  wall: number;
  /** Unix milliseconds. */
  instant: number;
  zone: Zone;
}

/** What times mean in one calendar. */
export interface TimeContext {
  zones: ZoneTable;
  /** The zone of days and of times without a zone, from X-WR-TIMEZONE. */
  defaultZone: Zone | null;
}

/** Parses a content line; throws an Error that says what is wrong with it. */
export function parseProperty(content: ContentLine): Property {
  try {
    const jcal: [string, Record<string, unknown>, string, ...unknown[]] = ICAL.parse.property(content.text);
    const [, rawParams, type, ...values] = jcal;
    const params: Record<string, string> = {};
    for (const [name, value] of Object.entries(rawParams)) params[name] = String(value);
    return { line: content.line, params, type, values };
  } catch (error) {
    throw new Error(`${content.name} cannot be read: ${messageOf(error)}`);
  }
}

/** The text of a property, '' if it has none. */
export function textValue(property: Property): string {
  const [value] = property.values;
  return (Array.isArray(value) ? value.join(',') : String(value ?? '')).trim();
}

const MOMENT = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2}):(\d{2})(Z?))?$/;

/** The moments of a property such as DTSTART or EXDATE; throws an Error that says what is wrong. */
export function momentsOf(name: string, property: Property, context: TimeContext): Moment[] {
  if (property.type === 'period')
    throw new Error(`${name} has periods, which are not supported: give start times`);
  const { tzid } = property.params;
  return property.values.map((value) => {
    const match = MOMENT.exec(String(value));
    const wall = match === null ? undefined : wallOf(match);
    if (match === null || wall === undefined)
      throw new Error(`${name} is no date or time: ${original(value)}`);
    if (match[4] === undefined) return momentAt('date', wall, context.defaultZone ?? floatingZone);
    if (match[7] === 'Z') return momentAt('zoned', wall, utc());
    if (tzid !== undefined) return momentAt('zoned', wall, zoneOf(name, tzid, context));
    return momentAt('floating', wall, context.defaultZone ?? floatingZone);
  });
}

function zoneOf(name: string, tzid: string, context: TimeContext): Zone {
  try {
    return context.zones.get(tzid);
  } catch (error) {
    throw new Error(`${name} ${messageOf(error)}`);
  }
}

/** The moment at which the zone's clock shows that wall time. */
export function momentAt(kind: Moment['kind'], wall: number, zone: Zone): Moment {
  return { kind, wall, zone, instant: zone.toInstant(wall) };
}

// Undefined for what no calendar has, such as 30 February; second 60 is a leap second, which clocks here skip.
function wallOf(match: RegExpExecArray): number | undefined {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  if (year < 1 || second > 60) return undefined;
  const fields = { year, month, day, hour, minute, second: Math.min(second, 59), timeZone: 'UTC' };
  try {
    return Temporal.ZonedDateTime.from(fields, { overflow: 'reject' }).epochMilliseconds;
  } catch {
    return undefined;
  }
}

function original(value: unknown): string {
  return JSON.stringify(String(value).replace(/[-:]/g, ''));
}

/** How a moment is written in an external id: a day, a floating time, or a time in UTC whatever zone it is told in. */
export function momentKey({ kind, wall, instant }: Moment): string {
  const text = new Date(kind === 'zoned' ? instant : wall).toISOString().replace(/[-:]|\.\d{3}/g, '');
  if (kind === 'date') return text.slice(0, 8);
  return kind === 'zoned' ? text : text.replace('Z', '');
}
