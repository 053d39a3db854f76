// iCalendar files: what becomes a meeting, when it is, and what is told of bad ones.
import { describe, expect, test } from 'bun:test';
import { parseCalendar } from '../cli/ingest/ics.ts';
import type { Data } from '../db/fields.ts';

const NOW = Date.parse('2026-03-01T00:00:00Z');
const DAY_MS = 86_400_000;
const fixture = await Bun.file(`${import.meta.dir}/fixtures/ingest/week.ics`).text();

function parse(text: string | Uint8Array, now = NOW) {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  return parseCalendar(bytes, 'test.ics', now);
}

/** One calendar of the events given as lines without BEGIN and END. */
function calendar(...events: string[]): string {
  const blocks = events.map((lines) => `BEGIN:VEVENT\n${lines}\nEND:VEVENT\n`);
  return `BEGIN:VCALENDAR\nVERSION:2.0\n${blocks.join('')}END:VCALENDAR\n`;
}

function meetings(text: string | Uint8Array, now = NOW): Data[] {
  return parse(text, now).entries.flatMap((group) => group.entries.map((entry) => entry.data));
}

function starts(text: string, now = NOW): string[] {
  return meetings(text, now).map(({ start_time }) => iso(start_time));
}

const iso = (value: unknown): string => new Date(Number(value)).toISOString().slice(0, 16);
const series = (rule: string, start = 'DTSTART:20260302T090000Z', more = ''): string =>
  calendar(`UID:s@x\n${start}\n${rule}${more === '' ? '' : `\n${more}`}`);
const messages = (text: string): string[] =>
  parse(text).faults.map(({ line, message }) => `${line}: ${message}`);

describe('one event', () => {
  const byId = new Map(meetings(fixture).map((data) => [data.external_id, data]));

  test('gives every field, unfolded and unescaped', () => {
    expect(byId.get('kickoff@calendar.example')).toEqual({
      external_id: 'kickoff@calendar.example',
      title: 'Kick-off, second half',
      description:
        'Agenda:\n1. the engine\n2. a line that is longer than seventy-five octets and therefore folded — in the middle of words',
      location: 'Room 4; first floor',
      status: 'tentative',
      timezone: 'Europe/London',
      organizer: { name: 'Alice Able', email: 'alice@acme.test' },
      attendees: [
        { name: 'Lovelace, Ada', email: 'Ada@Analytical.Example' },
        { name: null, email: 'charles@analytical.example' },
        { name: 'No Address', email: 'noaddress@analytical.example' },
      ],
      start_time: Date.parse('2026-07-02T08:00:00Z'),
      end_time: Date.parse('2026-07-02T09:30:00Z'),
    });
  });

  test('is not made of a VTODO', () => {
    expect([...byId.keys()]).not.toContain('todo@calendar.example');
    expect(parse(fixture).faults).toEqual([]);
  });

  test.each([
    ['windows@calendar.example', '2026-01-15T08:00', '2026-01-15T08:45', 'Europe/Berlin'],
    ['ruled@calendar.example', '2026-07-15T07:00', '2026-07-15T08:00', undefined],
    ['floating@calendar.example', '2026-07-15T07:00', '2026-07-15T07:00', 'Europe/Berlin'],
    ['day@calendar.example', '2026-03-31T22:00', '2026-04-02T22:00', 'Europe/Berlin'],
  ])('%s takes place from %s to %s', (id, start, end, timezone) => {
    const data = byId.get(id) ?? {};
    expect([iso(data.start_time), iso(data.end_time), data.timezone]).toEqual([start, end, timezone]);
  });

  test('reads the same with CRLF, with a byte order mark, and with a fold inside a character', () => {
    const expected = JSON.stringify(meetings(fixture));
    expect(JSON.stringify(meetings(fixture.replaceAll('\n', '\r\n')))).toBe(expected);
    expect(JSON.stringify(meetings(`\ufeff${fixture}`))).toBe(expected);
    const bytes = Buffer.from(fixture);
    const dash = bytes.indexOf(Buffer.from('—'));
    const cut = Buffer.concat([bytes.subarray(0, dash + 1), Buffer.from('\r\n '), bytes.subarray(dash + 1)]);
    expect(JSON.stringify(meetings(cut))).toBe(expected);
  });

  test('without a zone anywhere is in UTC; a time that the clock leaps over counts from before the leap', () => {
    expect(starts(calendar('UID:a\nDTSTART:20260302T090000'))).toEqual(['2026-03-02T09:00']);
    expect(starts(calendar('UID:a\nDTSTART;TZID=Europe/Berlin:20260329T023000'))).toEqual([
      '2026-03-29T01:30',
    ]);
    expect(starts(calendar('UID:a\nDTSTART;TZID=Europe/Berlin:20261025T023000'))).toEqual([
      '2026-10-25T00:30',
    ]);
  });

  test('is cancelled by STATUS and by METHOD', () => {
    const event = 'UID:a\nDTSTART:20260302T090000Z';
    expect(meetings(calendar(`${event}\nSTATUS:CANCELLED`))[0]?.status).toBe('cancelled');
    const cancelling = calendar(event).replace('VERSION:2.0', 'METHOD:CANCEL');
    expect(meetings(cancelling)[0]?.status).toBe('cancelled');
  });

  test('that stands there several times counts in its newest revision', () => {
    const revision = (sequence: number, title: string) =>
      `UID:a\nDTSTART:20260302T090000Z\nSEQUENCE:${sequence}\nSUMMARY:${title}`;
    expect(meetings(calendar(revision(3, 'new'), revision(1, 'old'))).map(({ title }) => title)).toEqual([
      'new',
    ]);
  });

  test('is found in each of several calendars in a file', () => {
    expect(meetings(calendar('UID:a\nDTSTART:20260302T090000Z') + fixture).length).toBe(6);
  });

  test('is cut to what a field holds', () => {
    const [data] = meetings(calendar(`UID:a\nDTSTART:20260302T090000Z\nSUMMARY:${'é'.repeat(1_500)}`));
    expect([...String(data?.title)].length).toBe(1_000);
    expect(String(data?.title).endsWith('…')).toBe(true);
  });
});

describe('a series', () => {
  test('gives one meeting for each instance, on the clock of its zone', () => {
    const text = series(
      'RRULE:FREQ=WEEKLY;COUNT=3',
      'DTSTART;TZID=Europe/Berlin:20260323T090000\nDURATION:PT1H',
    );
    expect(meetings(text).map(({ external_id, end_time }) => [external_id, iso(end_time)])).toEqual([
      ['s@x/20260323T080000Z', '2026-03-23T09:00'],
      ['s@x/20260330T070000Z', '2026-03-30T08:00'],
      ['s@x/20260406T070000Z', '2026-04-06T08:00'],
    ]);
  });

  test('takes RDATE and EXDATE in any zone, and EXDATE as a day', () => {
    const more =
      'RDATE:20260310T100000Z\nEXDATE;TZID=Europe/Berlin:20260303T100000\nEXDATE;VALUE=DATE:20260304';
    expect(starts(series('RRULE:FREQ=DAILY;COUNT=4', undefined, more))).toEqual([
      '2026-03-02T09:00',
      '2026-03-05T09:00',
      '2026-03-10T10:00',
    ]);
  });

  test.each([
    ['in UTC', 'DTSTART;TZID=America/New_York:20260302T200000', 'RRULE:FREQ=DAILY;UNTIL=20260305T010000Z', 3],
    ['as a day, which counts to its end', 'DTSTART:20260302T090000Z', 'RRULE:FREQ=DAILY;UNTIL=20260304', 3],
    ['of whole days', 'DTSTART;VALUE=DATE:20260302', 'RRULE:FREQ=DAILY;UNTIL=20260304', 3],
    ['of whole days, as a time', 'DTSTART;VALUE=DATE:20260302', 'RRULE:FREQ=DAILY;UNTIL=20260304T000000Z', 3],
  ])('ends at an UNTIL %s', (_, start, rule, count) => {
    expect(starts(series(rule, start)).length).toBe(count);
  });

  test('of days has days as ids', () => {
    const ids = meetings(series('RRULE:FREQ=YEARLY;COUNT=1', 'DTSTART;VALUE=DATE:20260302'));
    expect(ids.map(({ external_id }) => external_id)).toEqual(['s@x/20260302']);
  });

  test('has instances that were moved, for themselves or with all that follow', () => {
    const master =
      'UID:s@x\nDTSTART;TZID=Europe/London:20260302T090000\nDURATION:PT1H\nSUMMARY:Stand-up\nRRULE:FREQ=DAILY;COUNT=5';
    const moved =
      'UID:s@x\nRECURRENCE-ID:20260303T090000Z\nDTSTART:20260303T150000Z\nDURATION:PT2H\nSUMMARY:Moved';
    const later =
      'UID:s@x\nRECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/London:20260305T090000\n' +
      'DTSTART;TZID=Europe/London:20260305T100000\nDURATION:PT30M\nSUMMARY:Later';
    const rows = meetings(calendar(later, moved, master)).map(
      ({ external_id, title, start_time, end_time }) =>
        `${String(external_id).slice(4)} ${title} ${iso(start_time).slice(11)}-${iso(end_time).slice(11)}`,
    );
    expect(rows).toEqual([
      '20260302T090000Z Stand-up 09:00-10:00',
      '20260303T090000Z Moved 15:00-17:00',
      '20260304T090000Z Stand-up 09:00-10:00',
      '20260305T090000Z Later 10:00-10:30',
      '20260306T090000Z Later 10:00-10:30',
    ]);
  });

  test('has an instance that is told without its series', () => {
    const [data] = meetings(
      calendar('UID:s@x\nRECURRENCE-ID;TZID=Europe/Berlin:20260303T100000\nDTSTART:20260303T150000Z'),
    );
    expect(data?.external_id).toBe('s@x/20260303T090000Z');
  });

  test('that is cancelled is one word, which reaches all instances', () => {
    const [group] = parse(series('RRULE:FREQ=DAILY', undefined, 'STATUS:CANCELLED')).entries;
    expect(group?.entries.map(({ data }) => [data.external_id, data.status])).toEqual([['s@x', 'cancelled']]);
    expect(group?.extent).toMatchObject({ from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY });
  });
});

describe('the window of 400 days', () => {
  const days = (text: string): [number, number, number] => {
    const offsets = meetings(text).map(({ start_time }) => (Number(start_time) - NOW) / DAY_MS);
    return [offsets.length, Math.min(...offsets), Math.max(...offsets)];
  };

  test.each([
    ['lies around today', 'DTSTART:20100101T000000Z', 'RRULE:FREQ=DAILY', [400, -200, 199]],
    [
      'begins with a series that begins later',
      'DTSTART:20260311T000000Z',
      'RRULE:FREQ=DAILY',
      [400, 10, 409],
    ],
    [
      'ends with a series that is over',
      'DTSTART:20200101T000000Z',
      'RRULE:FREQ=DAILY;UNTIL=20251231',
      [400, -459, -60],
    ],
    [
      'holds a short series whole, however long ago',
      'DTSTART:20100101T000000Z',
      'RRULE:FREQ=DAILY;COUNT=3',
      [3, -5903, -5901],
    ],
  ])('%s', (_, start, rule, expected) => {
    expect(days(series(rule, start))).toEqual(expected as [number, number, number]);
  });

  test('tells how far a file speaks of a series', () => {
    const extentOf = (rule: string, start: string) => parse(series(rule, start)).entries[0]?.extent;
    expect(extentOf('RRULE:FREQ=DAILY', 'DTSTART:20100101T000000Z')).toEqual({
      sequence: 0,
      from: NOW - 200 * DAY_MS,
      to: NOW + 200 * DAY_MS - 1,
    });
    expect(extentOf('RRULE:FREQ=DAILY;COUNT=3', 'DTSTART:20260302T000000Z')).toEqual({
      sequence: 0,
      from: Number.NEGATIVE_INFINITY,
      to: Number.POSITIVE_INFINITY,
    });
  });
});

describe('bad input', () => {
  const event = 'UID:good@x\nDTSTART:20260302T090000Z';

  test('every fault has its line, and the good events stay', () => {
    const text = calendar(
      'UID:bad@x\nDTSTART:20260230T090000Z\nRRULE:FREQ=NEVER\nSTATUS:MAYBE\nno content line',
      event,
      'SUMMARY:Nothing to know it by',
    );
    expect(messages(text)).toEqual([
      '5: DTSTART is no date or time: "20260230T090000Z"',
      '7: STATUS must be one of CONFIRMED, TENTATIVE, CANCELLED',
      '8: is no content line, NAME:value, but "no content line"',
      '14: the VEVENT has no UID, which identifies the meeting',
      '14: the VEVENT has no DTSTART, its start',
    ]);
    expect(meetings(text).map(({ external_id }) => external_id)).toEqual(['good@x']);
  });

  test.each([
    ['RRULE:FREQ=NEVER', '6: RRULE cannot be read: invalid frequency "NEVER"'],
    ['RRULE:COUNT=3', '6: RRULE has no FREQ'],
    ['RRULE:FREQ=DAILY;COUNT=0', "6: RRULE's COUNT must be a whole number from 1"],
    ['RRULE:FREQ=DAILY;INTERVAL=x', "6: RRULE's INTERVAL must be a whole number from 1"],
    ['RRULE:FREQ=DAILY;UNTIL=soon', '6: RRULE cannot be read'],
    ['RRULE:FREQ=DAILY;COUNT', '6: RRULE has an unreadable part: "COUNT"'],
    ['RRULE:FREQ=SECONDLY', '6: RRULE takes more than 200,000 steps'],
    ['RRULE:FREQ=MINUTELY;INTERVAL=5', '6: the series has more than 10,000 meetings in 400 days'],
    ['DTEND:20260302T080000Z', '6: the event ends before it starts'],
    ['DTEND;TZID=Atlantis/Capital:20260302T100000', '6: DTEND names the time zone "Atlantis/Capital"'],
    ['DURATION:an hour', '6: DURATION must be like PT1H30M'],
    ['SEQUENCE:-1', '6: SEQUENCE must be a whole number'],
    ['ATTENDEE;CN="Ada:mailto:ada@x', '6: ATTENDEE cannot be read'],
    ['RDATE;VALUE=PERIOD:20260303T090000Z/PT1H', '6: RDATE has periods'],
  ])('%s is a fault', (line, expected) => {
    const told = messages(calendar(`${event}\n${line}`));
    expect(told.map((one) => one.slice(0, expected.length))).toEqual([expected]);
    expect(meetings(calendar(`${event}\n${line}`))).toEqual([]);
  });

  test.each([
    'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=DAILY;INTERVAL=100000;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30',
  ])('a rule that no day fits, %s, comes to an end', (rule) => {
    expect(parse(series(`RRULE:${rule}`)).entries.flatMap((group) => group.entries).length).toBeLessThan(2);
  });

  test('a zone whose rules would never end is refused', () => {
    const zone =
      'BEGIN:VTIMEZONE\nTZID:Odd\nBEGIN:STANDARD\nDTSTART:19700101T000000\nRRULE:FREQ=SECONDLY\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nEND:STANDARD\nEND:VTIMEZONE\n';
    const text = calendar('UID:a\nDTSTART;TZID=Odd:20260302T090000').replace(
      'BEGIN:VEVENT',
      `${zone}BEGIN:VEVENT`,
    );
    expect(messages(text)).toEqual([
      '14: DTSTART names the time zone "Odd", whose VTIMEZONE in line 3 has an unusable rule in line 7',
    ]);
  });

  test('a file that ends too soon keeps its whole events', () => {
    const text =
      calendar(event, 'UID:cut@x\nDTSTART:20260302T090000Z').split('END:VEVENT\nEND:VCALENDAR')[0] ?? '';
    expect(messages(text)).toEqual([
      '9: the file ends before END:VCALENDAR (begun in line 1), inside the VEVENT of line 7',
    ]);
    expect(meetings(text).length).toBe(1);
    expect(messages(calendar(event).replace('END:VCALENDAR\n', ''))).toEqual([
      '6: the file ends before END:VCALENDAR (begun in line 1)',
    ]);
  });

  test('an event without an end harms only itself', () => {
    const text = calendar(event, 'UID:next@x\nDTSTART:20260302T090000Z').replace('END:VEVENT\n', '');
    expect(messages(text)).toEqual(['3: BEGIN:VEVENT has no END:VEVENT']);
    expect(meetings(text).map(({ external_id }) => external_id)).toEqual(['next@x']);
  });

  test('Latin-1 bytes are told with their line, and harm only their event', () => {
    const text = calendar(`${event}\nSUMMARY:Café`, 'UID:next@x\nDTSTART:20260302T090000Z');
    const { faults, entries } = parse(Buffer.from(text, 'latin1'));
    expect(faults.map(({ line }) => line)).toEqual([6]);
    expect(faults[0]?.message).toContain('is not UTF-8 text');
    expect(entries.map(({ uid }) => uid)).toEqual(['next@x']);
  });

  test.each([
    ['text', 'Dear all,\nsee you on Monday.\n', 'is no iCalendar file'],
    ['an empty file', '', 'is no iCalendar file'],
    ['an event alone', 'BEGIN:VEVENT\nUID:a\nEND:VEVENT\n', 'is no iCalendar file'],
    ['UTF-16', Buffer.from('\ufeffBEGIN:VCALENDAR', 'utf16le'), 'is UTF-16'],
  ])('%s is refused whole', (_, content, message) => {
    expect(() => parse(content)).toThrow(message);
  });

  test('an answer to an invitation tells no meeting', () => {
    const text = calendar(event).replace('VERSION:2.0', 'METHOD:REPLY');
    expect(messages(text)).toEqual(['1: the calendar is an answer (METHOD:REPLY), which tells no meetings']);
    expect(meetings(text)).toEqual([]);
  });

  test('an empty calendar is no fault', () => {
    expect(parse(calendar())).toEqual({ entries: [], faults: [], ignored: 0 });
  });
});
