// Time zones: converts between wall times and instants.
import windowsZones from './windows-zones.json' with { type: 'json' };

/** A wall time is stored as the Unix milliseconds of the same time in UTC. */
export interface Zone {
  /** IANA name; null if there is none. */
  readonly name: string | null;
  toInstant(wallMs: number): number;
  toWall(instantMs: number): number;
}

/** A zone with a fixed offset from UTC, in milliseconds. */
export function fixedZone(offsetMs: number, name: string | null = null): Zone {
  return { name, toInstant: (wall) => wall - offsetMs, toWall: (instant) => instant + offsetMs };
}

export const utcZone = fixedZone(0, 'UTC');

/** The zone of times without a zone in a calendar without one: UTC, so that it is the same everywhere. */
export const floatingZone = fixedZone(0);

// The names of Outlook and Exchange with their IANA zones from Unicode's CLDR: by name, and by the places in a display
// name such as (UTC+01:00) Amsterdam, Berlin, Bern, …
const byWindowsName = new Map<string, string>();
const byPlace = new Map<string, string>();
for (const [name, [iana = '', places = '']] of Object.entries(windowsZones)) {
  byWindowsName.set(name.toLowerCase(), iana);
  for (const place of placesIn(places)) byPlace.set(place, iana);
}

// Older programs write "and" for "&", and other separators between the places.
function placesIn(text: string): string[] {
  const places = text
    .toLowerCase()
    .replaceAll('&', 'and')
    .split(/[,;:/]/);
  return places.map((place) => place.trim()).filter((place) => place !== '');
}

const ianaZones = new Map<string, Zone | undefined>();

/** The zone of an IANA or Windows name, a Windows display name, or a path that ends in a name; else undefined. */
export function findZone(name: string): Zone | undefined {
  if (!ianaZones.has(name)) ianaZones.set(name, lookUp(name));
  return ianaZones.get(name);
}

// Longer than any zone name in any language.
const NAME_CHARACTERS_MAX = 500;
// America/Argentina/Buenos_Aires
const SEGMENTS_MAX = 3;

function lookUp(name: string): Zone | undefined {
  if (name.length > NAME_CHARACTERS_MAX) return undefined;
  const windows = byWindowsName.get(name.toLowerCase());
  if (windows !== undefined) return windows === 'UTC' ? utcZone : ianaZone(windows);
  if (/^(?:Etc\/)?(?:UTC|GMT|Z|Zulu)$/i.test(name)) return utcZone;
  // Some programs put a path before the name: /example.org/20260101/Europe/Berlin.
  const segments = name
    .split('/')
    .filter((segment) => segment !== '')
    .slice(-SEGMENTS_MAX);
  for (let from = 0; from < segments.length; from += 1) {
    const zone = ianaZone(segments.slice(from).join('/'));
    if (zone !== undefined) return zone;
  }
  const places = placesIn(name.replace(/^\((?:UTC|GMT)[^)]*\)/i, ''));
  const shown = places.flatMap((place) => byPlace.get(place) ?? [])[0];
  return shown === undefined ? offsetZone(name) : ianaZone(shown);
}

// UTC+01, GMT+0100, (GMT -05:00): no place, so a fixed offset.
function offsetZone(name: string): Zone | undefined {
  const match = /^\(?(?:UTC|GMT)\s*([+-])(\d{1,2})(?::?([0-5]\d))?\)?$/i.exec(name);
  if (match === null) return undefined;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  return fixedZone((match[1] === '-' ? -minutes : minutes) * 60_000);
}

function ianaZone(name: string): Zone | undefined {
  try {
    // Throws for an unknown name.
    new Temporal.ZonedDateTime(0n, name);
  } catch {
    return undefined;
  }
  return {
    name,
    // A time that occurs twice means the first one; a skipped time uses the offset from before the change.
    toInstant: (wall) => wallTime(wall).toPlainDateTime().toZonedDateTime(name).epochMilliseconds,
    toWall: (instant) =>
      instant +
      Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(name).offsetNanoseconds / 1e6,
  };
}

/** The date and time of a wall time. */
export function wallTime(wallMs: number): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(wallMs).toZonedDateTimeISO('UTC');
}
