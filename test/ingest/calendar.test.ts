// iCalendar files: what becomes a meeting, and when it is.
import { describe, expect, test } from 'bun:test';
import {
  calendar,
  DAY_MS,
  fixture,
  iso,
  meetings,
  NOW,
  parse,
  series,
  starts,
} from '../fixtures/ingest/calendar.ts';

const byId = new Map((await meetings(fixture)).map((data) => [data.external_id, data]));

describe('one event', () => {
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

  test('a VTODO is not a meeting', async () => {
    expect([...byId.keys()]).not.toContain('todo@calendar.example');
    expect((await parse(fixture)).faults).toEqual([]);
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

  test('reads the same with CRLF, with a byte order mark, and with a fold inside a character', async () => {
    const expected = JSON.stringify(await meetings(fixture));
    expect(JSON.stringify(await meetings(fixture.replaceAll('\n', '\r\n')))).toBe(expected);
    expect(JSON.stringify(await meetings(`\ufeff${fixture}`))).toBe(expected);
    const bytes = Buffer.from(fixture);
    const dash = bytes.indexOf(Buffer.from('—'));
    const cut = Buffer.concat([bytes.subarray(0, dash + 1), Buffer.from('\r\n '), bytes.subarray(dash + 1)]);
    expect(JSON.stringify(await meetings(cut))).toBe(expected);
  });

  test('without a zone anywhere is in UTC; a time that the clock leaps over counts from before the leap', async () => {
    expect(await starts(calendar('UID:a\nDTSTART:20260302T090000'))).toEqual(['2026-03-02T09:00']);
    expect(await starts(calendar('UID:a\nDTSTART;TZID=Europe/Berlin:20260329T023000'))).toEqual([
      '2026-03-29T01:30',
    ]);
    expect(await starts(calendar('UID:a\nDTSTART;TZID=Europe/Berlin:20261025T023000'))).toEqual([
      '2026-10-25T00:30',
    ]);
  });

  test.each([
    ['DTSTART:20261101', 'a@x', '2026-11-01T00:00', '2026-11-02T00:00'],
    ['DTSTART:20261101\nDTEND:20261103', 'a@x', '2026-11-01T00:00', '2026-11-03T00:00'],
    ['DTSTART;VALUE=DATE:20261101Z', 'a@x', '2026-11-01T00:00', '2026-11-02T00:00'],
    ['DTSTART;VALUE=DATE:20261101T090000', 'a@x', '2026-11-01T00:00', '2026-11-02T00:00'],
    ['DTSTART:20261101\nRRULE:FREQ=DAILY;COUNT=1', 'a@x/20261101', '2026-11-01T00:00', '2026-11-02T00:00'],
    ['DTSTART:20261101T0900Z\nRRULE:', 'a@x', '2026-11-01T09:00', '2026-11-01T09:00'],
  ])('%j, as some write it, is understood', async (lines, id, start, end) => {
    const [data] = await meetings(calendar(`UID:a@x\n${lines}`));
    expect([data?.external_id, iso(data?.start_time), iso(data?.end_time)]).toEqual([id, start, end]);
  });

  test('is in the zone that Windows shows to people', async () => {
    const shown = '"(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna"';
    const [data] = await meetings(calendar(`UID:a@x\nDTSTART;TZID=${shown}:20260715T090000`));
    expect([iso(data?.start_time), data?.timezone]).toEqual(['2026-07-15T07:00', 'Europe/Berlin']);
  });

  test('does not end before it starts where the clock leaps over its start', async () => {
    const lines =
      'UID:a@x\nDTSTART;TZID=Europe/Berlin:20260329T023000\nDTEND;TZID=Europe/Berlin:20260329T030000';
    const [data] = await meetings(calendar(lines));
    expect([iso(data?.start_time), iso(data?.end_time)]).toEqual(['2026-03-29T01:30', '2026-03-29T01:30']);
  });

  test('is cancelled by STATUS and by METHOD', async () => {
    const event = 'UID:a\nDTSTART:20260302T090000Z';
    expect((await meetings(calendar(`${event}\nSTATUS:CANCELLED`)))[0]?.status).toBe('cancelled');
    const cancelling = calendar(event).replace('VERSION:2.0', 'METHOD:CANCEL');
    expect((await meetings(cancelling))[0]?.status).toBe('cancelled');
  });

  test('that stands there several times counts in its newest revision', async () => {
    const revision = (sequence: number, title: string) =>
      `UID:a\nDTSTART:20260302T090000Z\nSEQUENCE:${sequence}\nSUMMARY:${title}`;
    expect(
      (await meetings(calendar(revision(3, 'new'), revision(1, 'old')))).map(({ title }) => title),
    ).toEqual(['new']);
  });

  test('is found in each of several calendars in a file', async () => {
    expect((await meetings(calendar('UID:a\nDTSTART:20260302T090000Z') + fixture)).length).toBe(6);
  });

  test('is cut to what a field holds', async () => {
    const [data] = await meetings(calendar(`UID:a\nDTSTART:20260302T090000Z\nSUMMARY:${'é'.repeat(1_500)}`));
    expect([...String(data?.title)].length).toBe(1_000);
    expect(String(data?.title).endsWith('…')).toBe(true);
  });
});

describe('a series', () => {
  test('gives one meeting for each instance, on the clock of its zone', async () => {
    const text = series(
      'RRULE:FREQ=WEEKLY;COUNT=3',
      'DTSTART;TZID=Europe/Berlin:20260323T090000\nDURATION:PT1H',
    );
    expect((await meetings(text)).map(({ external_id, end_time }) => [external_id, iso(end_time)])).toEqual([
      ['s@x/20260323T080000Z', '2026-03-23T09:00'],
      ['s@x/20260330T070000Z', '2026-03-30T08:00'],
      ['s@x/20260406T070000Z', '2026-04-06T08:00'],
    ]);
  });

  test('takes RDATE and EXDATE in any zone, and EXDATE as a day', async () => {
    const more =
      'RDATE:20260310T100000Z\nEXDATE;TZID=Europe/Berlin:20260303T100000\nEXDATE;VALUE=DATE:20260304';
    expect(await starts(series('RRULE:FREQ=DAILY;COUNT=4', undefined, more))).toEqual([
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
  ])('ends at an UNTIL %s', async (_, start, rule, count) => {
    expect((await starts(series(rule, start))).length).toBe(count);
  });

  test('takes RDATE as periods, each as long as it says', async () => {
    const more =
      'DURATION:PT1H\nRDATE;VALUE=PERIOD:20260310T100000Z/PT3H,20260311T100000Z/20260311T103000Z\nRDATE:20260312T100000Z';
    const rows = (await meetings(series('RRULE:FREQ=DAILY;COUNT=1', undefined, more))).map(
      ({ start_time, end_time }) => `${iso(start_time).slice(8)}-${iso(end_time).slice(11)}`,
    );
    expect(rows).toEqual(['02T09:00-10:00', '10T10:00-13:00', '11T10:00-10:30', '12T10:00-11:00']);
  });

  test('of days has days as ids', async () => {
    const ids = await meetings(series('RRULE:FREQ=YEARLY;COUNT=1', 'DTSTART;VALUE=DATE:20260302'));
    expect(ids.map(({ external_id }) => external_id)).toEqual(['s@x/20260302']);
  });

  test('has instances that were moved, for themselves or with all that follow', async () => {
    const master =
      'UID:s@x\nDTSTART;TZID=Europe/London:20260302T090000\nDURATION:PT1H\nSUMMARY:Stand-up\nRRULE:FREQ=DAILY;COUNT=5';
    const moved =
      'UID:s@x\nRECURRENCE-ID:20260303T090000Z\nDTSTART:20260303T150000Z\nDURATION:PT2H\nSUMMARY:Moved';
    const later =
      'UID:s@x\nRECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/London:20260305T090000\n' +
      'DTSTART;TZID=Europe/London:20260305T100000\nDURATION:PT30M\nSUMMARY:Later';
    const rows = (await meetings(calendar(later, moved, master))).map(
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

  test('has an instance that comes without its series', async () => {
    const [data] = await meetings(
      calendar('UID:s@x\nRECURRENCE-ID;TZID=Europe/Berlin:20260303T100000\nDTSTART:20260303T150000Z'),
    );
    expect(data?.external_id).toBe('s@x/20260303T090000Z');
  });

  test('that is cancelled is one word, which reaches all instances', async () => {
    const [group] = (await parse(series('RRULE:FREQ=DAILY', undefined, 'STATUS:CANCELLED'))).entries;
    expect(group?.entries.map(({ data }) => [data.external_id, data.status])).toEqual([['s@x', 'cancelled']]);
    expect(group?.extent).toMatchObject({ from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY });
  });
});

describe('the window of 400 days', () => {
  const days = async (text: string): Promise<[number, number, number]> => {
    const offsets = (await meetings(text)).map(({ start_time }) => (Number(start_time) - NOW) / DAY_MS);
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
  ])('%s', async (_, start, rule, expected) => {
    expect(await days(series(rule, start))).toEqual(expected as [number, number, number]);
  });

  test('tells how far a file speaks of a series', async () => {
    const extentOf = async (rule: string, start: string) =>
      (await parse(series(rule, start))).entries[0]?.extent;
    expect(await extentOf('RRULE:FREQ=DAILY', 'DTSTART:20100101T000000Z')).toEqual({
      sequence: 0,
      from: NOW - 200 * DAY_MS,
      to: NOW + 200 * DAY_MS - 1,
    });
    expect(await extentOf('RRULE:FREQ=DAILY;COUNT=3', 'DTSTART:20260302T000000Z')).toEqual({
      sequence: 0,
      from: Number.NEGATIVE_INFINITY,
      to: Number.POSITIVE_INFINITY,
    });
  });
});
