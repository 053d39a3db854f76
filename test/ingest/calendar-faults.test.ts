// iCalendar files: what is reported of bad ones, and what of them is kept.
import { describe, expect, test } from 'bun:test';
import { calendar, meetings, messages, parse } from '../fixtures/ingest/calendar.ts';

describe('bad input', () => {
  const event = 'UID:good@x\nDTSTART:20260302T090000Z';

  test('every fault has its line, and the good events stay', async () => {
    const text = calendar(
      'UID:bad@x\nDTSTART:20260230T090000Z\nRRULE:FREQ=NEVER\nSTATUS:MAYBE\nno content line',
      event,
      'SUMMARY:Nothing to know it by',
    );
    expect(await messages(text)).toEqual([
      '5: DTSTART is not a date or time: "20260230T090000Z"',
      '7: STATUS must be one of: CONFIRMED, TENTATIVE, CANCELLED',
      '8: is not a content line of the form NAME:value: "no content line"',
      '14: the VEVENT does not have UID, which identifies the meeting',
      '14: the VEVENT does not have DTSTART, its start',
    ]);
    expect((await meetings(text)).map(({ external_id }) => external_id)).toEqual(['good@x']);
  });

  test.each([
    ['RRULE:FREQ=NEVER', "6: RRULE's FREQ must be one of YEARLY, MONTHLY"],
    ['RRULE:COUNT=3', '6: RRULE does not have FREQ'],
    ['RRULE:FREQ=DAILY;COUNT=0', "6: RRULE's COUNT must be a whole number from 1"],
    ['RRULE:FREQ=DAILY;INTERVAL=x', "6: RRULE's INTERVAL must be a whole number from 1"],
    ['RRULE:FREQ=DAILY;UNTIL=soon', '6: RRULE\'s UNTIL is not a date or time: "SOON"'],
    ['RRULE:FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=31;BYDAY=MO', '6: RRULE has no occurrences'],
    ['RRULE:FREQ=DAILY;COUNT', '6: RRULE has an invalid part: "COUNT"'],
    ['RRULE:FREQ=SECONDLY', '6: the series has more than 10,000 meetings in 400 days (UID "good@x")'],
    ['RRULE:FREQ=SECONDLY;BYSECOND=1;BYSETPOS=2', '6: RRULE needs more than 200,000 steps'],
    ['RRULE:FREQ=MINUTELY;INTERVAL=5', '6: the series has more than 10,000 meetings in 400 days'],
    ['DTEND:20260302T080000Z', '6: the event ends before it starts'],
    ['DTEND;TZID=Atlantis/Capital:20260302T100000', '6: DTEND uses the time zone "Atlantis/Capital"'],
    ['DURATION:an hour', '6: DURATION must be like PT1H30M'],
    ['SEQUENCE:-1', '6: SEQUENCE must be a whole number'],
    ['ATTENDEE;CN="Ada:mailto:ada@x', '6: ATTENDEE is not valid'],
    ['DURATION:P999999999999999999W', '6: DURATION is longer than any event: "P999999999999999999W"'],
    ['EXRULE:FREQ=DAILY', '6: EXRULE is not supported: list the dates in EXDATE'],
    ['DURATION:P999999W', '6: a time of the event is after the year 9999'],
    ['DURATION:PT999999999999S', '6: a time of the event is after the year 9999'],
    ['RDATE;VALUE=PERIOD:20260303T090000Z/20260303T080000Z', '6: RDATE has a period that ends before it'],
    ['RDATE;VALUE=PERIOD:20260303T090000Z/an hour', '6: RDATE is not a date or time: "an hour"'],
  ])('%s is a fault', async (line, expected) => {
    const told = await messages(calendar(`${event}\n${line}`));
    expect(told.map((one) => one.slice(0, expected.length))).toEqual([expected]);
    expect(await meetings(calendar(`${event}\n${line}`))).toEqual([]);
  });

  test.each([
    'DURATION:P999999999999999999W',
    'RRULE:FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=31;BYDAY=MO',
    'RRULE:FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30',
    'DTSTART:99991231T235959Z\nDURATION:PT1S',
    'DTSTART:99990101T000000Z\nDURATION:P50W\nRRULE:FREQ=DAILY',
  ])('one odd event, %s, is one fault, and the rest of the file is kept', async (lines) => {
    const odd = /DTSTART/.test(lines)
      ? `UID:odd@x\n${lines}`
      : `UID:odd@x\nDTSTART:20260302T090000Z\n${lines}`;
    const text = calendar(
      'UID:before@x\nDTSTART:20260302T090000Z',
      odd,
      'UID:after@x\nDTSTART:20260303T090000Z',
    );
    expect((await messages(text)).length).toBe(1);
    expect((await meetings(text)).map(({ external_id }) => external_id)).toEqual(['before@x', 'after@x']);
  });

  test('a rule without occurrences from one start is tried again with another', async () => {
    const june = 'RRULE:FREQ=MONTHLY;INTERVAL=12;BYMONTH=6;BYMONTHDAY=15;COUNT=1';
    const text = calendar(
      `UID:april@x\nDTSTART:20260401T090000Z\n${june}`,
      `UID:june@x\nDTSTART:20260615T090000Z\n${june}`,
    );
    expect(await messages(text)).toEqual([expect.stringContaining('RRULE has no occurrences')]);
    expect((await meetings(text)).map(({ external_id }) => external_id)).toEqual([
      expect.stringMatching(/^june@x/),
    ]);
  });

  test('thousands of events with a rule or a zone that cannot be used are reported in no time', async () => {
    const zone =
      'BEGIN:VTIMEZONE\nTZID:Odd\nBEGIN:STANDARD\nDTSTART:19700101T000000\nRRULE:FREQ=SECONDLY\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nEND:STANDARD\nEND:VTIMEZONE\n';
    const odd = [
      'RRULE:FREQ=SECONDLY',
      'RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30',
      'RECURRENCE-ID;TZID=Odd:20260101T000000',
    ];
    const events = Array.from(
      { length: 3_000 },
      (_, index) => `UID:${index}\nDTSTART:20260302T090000Z\n${odd[index % 3]}`,
    );
    const text = calendar(...events).replace('VERSION:2.0\n', `VERSION:2.0\n${zone}`);
    expect((await messages(text)).length).toBe(3_000);
  });

  test('what is quoted of the file is short and has no control characters', async () => {
    const long = `${'x'.repeat(50_000)}`;
    const told = await messages(
      calendar(
        `UID:a@x\nDTSTART;TZID=${long}:20260302T090000`,
        `UID:b@x\nDTSTART:${long}`,
        `UID:c@x\nDTSTART:20260302T090000Z\nATTENDEE;CN="\u001b[31m\u009bA\u202e:mailto:a@x`,
        `UID:d@x\nDTSTART:20260302T090000Z\nRRULE:FREQ=DAILY;${long}`,
        `UID:e@x\nDTSTART:20260302T090000Z\nBEGIN:${long}`,
      ),
    );
    expect(told.length).toBeGreaterThanOrEqual(5);
    for (const message of told) {
      expect(message.length).toBeLessThan(450);
      expect(message).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    }
  });

  test('a zone whose rules would never end is refused', async () => {
    const zone =
      'BEGIN:VTIMEZONE\nTZID:Odd\nBEGIN:STANDARD\nDTSTART:19700101T000000\nRRULE:FREQ=SECONDLY\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nEND:STANDARD\nEND:VTIMEZONE\n';
    const text = calendar('UID:a\nDTSTART;TZID=Odd:20260302T090000').replace(
      'BEGIN:VEVENT',
      `${zone}BEGIN:VEVENT`,
    );
    expect(await messages(text)).toEqual([
      '14: DTSTART uses the time zone "Odd", whose VTIMEZONE in line 3 has an invalid rule in line 7',
    ]);
  });

  test('a file that ends too soon keeps its whole events', async () => {
    const text =
      calendar(event, 'UID:cut@x\nDTSTART:20260302T090000Z').split('END:VEVENT\nEND:VCALENDAR')[0] ?? '';
    expect(await messages(text)).toEqual([
      '9: the file ends before END:VCALENDAR (started in line 1), inside the VEVENT of line 7',
    ]);
    expect((await meetings(text)).length).toBe(1);
    expect(await messages(calendar(event).replace('END:VCALENDAR\n', ''))).toEqual([
      '6: the file ends before END:VCALENDAR (started in line 1)',
    ]);
  });

  test('an event without an end harms only itself', async () => {
    const text = calendar(event, 'UID:next@x\nDTSTART:20260302T090000Z').replace('END:VEVENT\n', '');
    expect(await messages(text)).toEqual(['3: BEGIN:VEVENT has no END:VEVENT']);
    expect((await meetings(text)).map(({ external_id }) => external_id)).toEqual(['next@x']);
  });

  test('Latin-1 bytes are reported with their line, and harm only their event', async () => {
    const text = calendar(`${event}\nSUMMARY:Café`, 'UID:next@x\nDTSTART:20260302T090000Z');
    const { faults, entries } = await parse(Buffer.from(text, 'latin1'));
    expect(faults.map(({ line }) => line)).toEqual([6]);
    expect(faults[0]?.message).toContain('is not UTF-8 text');
    expect(entries.map(({ uid }) => uid)).toEqual(['next@x']);
  });

  test.each([
    ['text', 'Dear all,\nsee you on Monday.\n', 'is not an iCalendar file'],
    ['an empty file', '', 'is not an iCalendar file'],
    ['an event alone', 'BEGIN:VEVENT\nUID:a\nEND:VEVENT\n', 'is not an iCalendar file'],
    ['UTF-16', Buffer.from('\ufeffBEGIN:VCALENDAR', 'utf16le'), 'is UTF-16'],
  ])('%s is refused whole', async (_, content, message) => {
    await expect(parse(content)).rejects.toThrow(message);
  });

  test('an answer to an invitation tells no meeting', async () => {
    const text = calendar(event).replace('VERSION:2.0', 'METHOD:REPLY');
    expect(await messages(text)).toEqual([
      '1: the calendar is a reply (METHOD:REPLY), which does not contain meetings',
    ]);
    expect(await meetings(text)).toEqual([]);
  });

  test('an empty calendar is no fault', async () => {
    expect(await parse(calendar())).toEqual({ entries: [], faults: [], ignored: 0 });
  });
});
