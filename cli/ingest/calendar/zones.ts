// Time zones: between what a clock on the wall shows and the instant it shows it at.
import ICAL from 'ical.js';
import { messageOf } from '../../errors.ts';
import type { Block } from './blocks.ts';
import { ianaOfWindowsZone } from './windows-zones.ts';

/** A wall time is kept as the Unix milliseconds at which a clock set to UTC would show it. */
export interface Zone {
  /** IANA name; null where there is none. */
  readonly name: string | null;
  toInstant(wallMs: number): number;
  toWall(instantMs: number): number;
}

const utcZone: Zone = { name: 'UTC', toInstant: (wall) => wall, toWall: (instant) => instant };

/** The zone of times that name none, where the calendar names none either: UTC, so that it is the same everywhere. */
export const floatingZone: Zone = { ...utcZone, name: null };

/** UTC itself. */
export function utc(): Zone {
  return utcZone;
}

const ianaZones = new Map<string, Zone | undefined>();

/** The zone of an IANA or Windows name, or of a path that ends in one; undefined if the name is unknown. */
export function findZone(name: string): Zone | undefined {
  if (!ianaZones.has(name)) ianaZones.set(name, lookUp(name));
  return ianaZones.get(name);
}

function lookUp(name: string): Zone | undefined {
  const windows = ianaOfWindowsZone(name);
  if (windows !== undefined) return windows === 'UTC' ? utcZone : ianaZone(windows);
  if (/^(?:Etc\/)?(?:UTC|GMT|Z|Zulu)$/i.test(name)) return utcZone;
  // Some programs put their own path before the name: /example.org/20260101/Europe/Berlin.
  const segments = name.split('/').filter((segment) => segment !== '');
  for (let from = 0; from < segments.length; from += 1) {
    const zone = ianaZone(segments.slice(from).join('/'));
    if (zone !== undefined) return zone;
  }
  return undefined;
}

function ianaZone(name: string): Zone | undefined {
  try {
    // Refuses a name that it does not know.
    new Temporal.ZonedDateTime(0n, name);
  } catch {
    return undefined;
  }
  return {
    name,
    // A time that the clock shows twice is the first of the two; one that it leaps over counts from before the leap.
    toInstant: (wall) => wallTime(wall).toPlainDateTime().toZonedDateTime(name).epochMilliseconds,
    toWall: (instant) =>
      instant +
      Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(name).offsetNanoseconds / 1e6,
  };
}

function wallTime(wallMs: number): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(wallMs).toZonedDateTimeISO('UTC');
}

/** The zones that a calendar's times refer to by TZID: known ones by name, others by the calendar's own rules. */
export class ZoneTable {
  readonly #definitions = new Map<string, Block>();
  readonly #zones = new Map<string, Zone>();

  constructor(calendar: Block) {
    for (const block of calendar.blocks) {
      const tzid = block.name === 'VTIMEZONE' ? textOf(block, 'TZID') : undefined;
      if (tzid !== undefined) this.#definitions.set(tzid, block);
    }
  }

  /** The zone of that TZID; throws an Error that says why it cannot be told. */
  get(tzid: string): Zone {
    let zone = this.#zones.get(tzid);
    if (zone === undefined) {
      zone = this.#resolve(tzid);
      this.#zones.set(tzid, zone);
    }
    return zone;
  }

  #resolve(tzid: string): Zone {
    const block = this.#definitions.get(tzid);
    const location = block === undefined ? undefined : textOf(block, 'X-LIC-LOCATION');
    const known = findZone(tzid) ?? (location === undefined ? undefined : findZone(location));
    if (known !== undefined) return known;
    if (block !== undefined) return ruledZone(tzid, block);
    throw new Error(
      `names the time zone ${JSON.stringify(tzid)}, which is neither known nor defined in the file`,
    );
  }
}

// Rules of real zones: once a year, on a day of a month. Anything finer would only keep the expansion busy.
const ZONE_RULE = /^RRULE:FREQ=YEARLY(?:;(?:BYMONTH|BYDAY|BYMONTHDAY|UNTIL|COUNT|INTERVAL|WKST)=[^;]*)*$/i;

function ruledZone(tzid: string, block: Block): Zone {
  const fail = (reason: string): Error =>
    new Error(`names the time zone ${JSON.stringify(tzid)}, whose VTIMEZONE in line ${block.line} ${reason}`);
  if (block.state !== 'whole') throw fail('is damaged');
  const rules = block.blocks.flatMap((part) => part.lines).filter((line) => line.name === 'RRULE');
  const unusable = rules.find((rule) => !ZONE_RULE.test(rule.text));
  if (unusable !== undefined) throw fail(`has an unusable rule in line ${unusable.line}`);
  try {
    const timezone = new ICAL.Timezone({ component: new ICAL.Component(ICAL.parse(render(block))), tzid });
    const offsetAt = (wall: number): number => timezone.utcOffset(timeOf(wall)) * 1_000;
    // Asked once, so that a zone without usable rules is found out here.
    if (block.blocks.length === 0 || !Number.isFinite(offsetAt(0))) throw new Error('has no rules');
    return {
      name: null,
      toInstant: (wall) => wall - offsetAt(wall),
      toWall: (instant) => instant + offsetAt(instant + offsetAt(instant)),
    };
  } catch (error) {
    throw fail(`cannot be used: ${messageOf(error)}`);
  }
}

/** A wall time as ical.js has it, without a zone. */
export function timeOf(wallMs: number): ICAL.Time {
  const { year, month, day, hour, minute, second } = wallTime(wallMs);
  return new ICAL.Time(
    { year, month, day, hour, minute, second, isDate: false },
    ICAL.Timezone.localTimezone,
  );
}

function render(block: Block): string {
  return [
    `BEGIN:${block.name}`,
    ...block.lines.map((line) => line.text),
    ...block.blocks.map(render),
    `END:${block.name}`,
  ].join('\r\n');
}

/** The value of a component's first property of that name, which has no escapes. */
export function textOf(block: Block, name: string): string | undefined {
  const text = block.lines.find((line) => line.name === name)?.text;
  return text === undefined ? undefined : text.slice(text.indexOf(':') + 1).trim();
}
