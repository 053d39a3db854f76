// Time zones: wall times and instants, checked against the tables of Intl, above all where the clocks change.
import { describe, expect, test } from 'bun:test';
import { BlockReader } from '../../cli/ingest/calendar/blocks.ts';
import { FileBudget } from '../../cli/ingest/calendar/limits.ts';
import { ZoneTable } from '../../cli/ingest/calendar/zone-rules.ts';
import { findZone, type Zone } from '../../cli/ingest/calendar/zones.ts';
import { FaultList } from '../../cli/ingest/entries.ts';
import { linesOf } from '../../cli/ingest/text-lines.ts';
import { pieces } from '../support/ingest-readers.ts';

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
    ['(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna', 'Europe/Berlin'],
    ['(UTC-05:00) Eastern Time (US & Canada)', 'America/New_York'],
    ['(GMT-08:00) Pacific Time (US and Canada); Tijuana', 'America/Los_Angeles'],
    ['(GMT+01.00) Sarajevo/Warsaw/Zagreb', 'Europe/Warsaw'],
    ['Greenwich Mean Time: Dublin, Edinburgh, Lisbon, London', 'Europe/London'],
    ["(UTC+13:00) Nuku'alofa", 'Pacific/Tongatapu'],
    ['(UTC) Coordinated Universal Time', 'UTC'],
    ['Atlantis/Capital', undefined],
    ['2026-01-01T00:00Z[Europe/Berlin]', undefined],
  ])('%s means %p', (name, expected) => {
    expect(findZone(name)?.name ?? undefined).toBe(expected);
  });

  test.each([
    ['UTC+01', 60],
    ['GMT-0330', -210],
    ['(GMT +05:30)', 330],
  ])('%s is a clock %i minutes ahead', (name, minutes) => {
    const zone = findZone(name);
    expect([zone?.name, zone?.toWall(0)]).toEqual([null, minutes * 60_000]);
    expect(zone?.toInstant(minutes * 60_000)).toBe(0);
  });
});

describe('a zone that the calendar defines', () => {
  const part = (name: string, ...lines: string[]): string =>
    `BEGIN:${name}\n${lines.join('\n')}\nEND:${name}\n`;
  const defined = async (...parts: string[]): Promise<Zone> => {
    const text = `BEGIN:VCALENDAR\n${part('VTIMEZONE', 'TZID:Own', ...parts)}END:VCALENDAR\n`;
    const reader = new BlockReader(new FaultList());
    for await (const lines of linesOf(pieces(text), 'test.ics')) for (const line of lines) reader.push(line);
    reader.end();
    const [calendar] = reader.calendars;
    if (calendar === undefined) throw new Error('the test wrote no calendar');
    return new ZoneTable(calendar, new FileBudget()).get('Own');
  };
  const standard = 'TZOFFSETFROM:-0400\nTZOFFSETTO:-0500';
  const daylight = 'TZOFFSETFROM:-0500\nTZOFFSETTO:-0400';

  test('by rules agrees with the same zone by name', async () => {
    const zone = await defined(
      part(
        'STANDARD',
        standard,
        'DTSTART:19671029T020000',
        'RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU;UNTIL=20061029T060000Z',
      ),
      part('STANDARD', standard, 'DTSTART:20071104T020000', 'RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU'),
      part(
        'DAYLIGHT',
        daylight,
        'DTSTART:19870405T020000',
        'RRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=1SU;UNTIL=20060402T070000Z',
      ),
      // As older programs write the second Sunday.
      part(
        'DAYLIGHT',
        daylight,
        'DTSTART:20070311T020000',
        'RRULE:FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=8,9,10,11,12,13,14;BYDAY=SU',
      ),
    );
    const named = findZone('America/New_York');
    const walls = wallsAroundChanges('America/New_York', '1988-01-01T00:00Z', '2040-01-01T00:00Z');
    expect(walls.length).toBeGreaterThan(4_000);
    for (const wall of walls) {
      const instant = zone.toInstant(wall);
      expect(instant).toBe(named?.toInstant(wall) ?? Number.NaN);
      expect(zone.toWall(instant)).toBe(named?.toWall(instant) ?? Number.NaN);
    }
  });

  test('by rules that began in the year 1601, and by single dates, local or in UTC', async () => {
    const outlook = await defined(
      part(
        'STANDARD',
        'DTSTART:16010101T030000',
        'TZOFFSETFROM:+0200',
        'TZOFFSETTO:+0100',
        'RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10',
      ),
      part(
        'DAYLIGHT',
        'DTSTART:16010101T020000',
        'TZOFFSETFROM:+0100',
        'TZOFFSETTO:+0200',
        'RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3',
      ),
    );
    const berlin = findZone('Europe/Berlin');
    const walls = wallsAroundChanges('Europe/Berlin', '1996-01-01T00:00Z', '2040-01-01T00:00Z');
    expect(walls.map(outlook.toInstant)).toEqual(walls.map((wall) => berlin?.toInstant(wall) ?? Number.NaN));
    const offsetAt = (zone: Zone, day: string): number => zone.toWall(Date.parse(day)) - Date.parse(day);
    const dated = await defined(
      part('STANDARD', standard, 'DTSTART:20260101T000000', 'RDATE:20261101T020000,20271107T060000Z'),
      part('DAYLIGHT', daylight, 'DTSTART:20260308T020000', 'RDATE:20270314T020000'),
    );
    const days = ['2025-06-01', '2026-02-01', '2026-07-01', '2026-12-01', '2027-07-01', '2027-12-01'];
    expect(days.map((day) => offsetAt(dated, day) / HOUR_MS)).toEqual([-4, -5, -4, -5, -4, -5]);
  });

  test.each([
    ['has no rules', ''],
    ['has a part without DTSTART', part('STANDARD', standard)],
    [
      'has a STANDARD without a valid TZOFFSETTO',
      part('STANDARD', 'DTSTART:20260101T000000', 'TZOFFSETFROM:+0100'),
    ],
    [
      'has an invalid rule in line 8',
      part('STANDARD', 'DTSTART:20260101T000000', standard, 'RRULE:FREQ=SECONDLY'),
    ],
  ])('that %s is refused', async (reason, parts) => {
    await expect(defined(parts)).rejects.toThrow(
      `uses the time zone "Own", whose VTIMEZONE in line 2 ${reason}`,
    );
  });
});
