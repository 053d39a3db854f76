// Time zones: wall times and instants, held against the tables of Intl, where the clocks change above all.
import { describe, expect, test } from 'bun:test';
import { findZone } from '../../cli/ingest/calendar/zones.ts';

const HOUR_MS = 3_600_000;
const ZONES = [
  'Europe/Berlin',
  'Europe/Dublin',
  'America/New_York',
  'America/St_Johns',
  'Africa/Casablanca',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Asia/Kathmandu',
];

/** What a clock in the zone shows, by Intl, as the milliseconds at which a clock set to UTC shows it. */
function shownIn(zone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'medium',
    hourCycle: 'h23',
  });
  return (instant) => Date.parse(`${format.format(instant).replace(', ', 'T')}Z`);
}

/** The wall times for some hours around each change of the clock in those years. */
function wallsAroundChanges(zone: string, from: string, until: string): number[] {
  const walls: number[] = [];
  const end = Date.parse(until);
  let at: Temporal.ZonedDateTime | null = Temporal.Instant.from(from).toZonedDateTimeISO(zone);
  for (at = at.getTimeZoneTransition('next'); at !== null; at = at.getTimeZoneTransition('next')) {
    if (at.epochMilliseconds > end) break;
    const wall = at.epochMilliseconds + at.offsetNanoseconds / 1e6;
    for (let minutes = -190; minutes <= 190; minutes += 10) walls.push(wall + minutes * 60_000);
  }
  return walls;
}

test.each(ZONES)('%s agrees with Intl at every change of the clock', (name) => {
  const zone = findZone(name);
  const shown = shownIn(name);
  const walls = [
    Date.parse('2026-01-15T12:00:00Z'),
    ...wallsAroundChanges(name, '1990-01-01T00:00Z', '2030-01-01T00:00Z'),
  ];
  for (const wall of walls) {
    const instant = zone?.toInstant(wall) ?? Number.NaN;
    expect(zone?.toWall(instant)).toBe(shown(instant));
    const isShown = shown(instant) === wall;
    // Twice shown: the first. Never shown: what the clock would show had it not been set forward.
    const earlier = [0.5, 1, 2, 24]
      .map((hours) => instant - hours * HOUR_MS)
      .filter((one) => shown(one) === wall);
    expect(earlier).toEqual([]);
    if (!isShown) expect(shown(instant)).toBeGreaterThan(wall);
  }
});

describe('a name', () => {
  test.each([
    ['/example.org/20260101/Europe/Berlin', 'Europe/Berlin'],
    ['W. Europe Standard Time', 'Europe/Berlin'],
    ['zulu', 'UTC'],
    ['Atlantis/Capital', undefined],
    ['2026-01-01T00:00Z[Europe/Berlin]', undefined],
  ])('%s means %p', (name, expected) => {
    expect(findZone(name)?.name ?? undefined).toBe(expected);
  });
});
