// What a file of calendars may cost, what is given up of one that costs more, and what is reported of what is left out.
import { describe, expect, test } from 'bun:test';
import { readCalendar } from '../../cli/ingest/calendar/calendar-file.ts';
import { FileBudget } from '../../cli/ingest/calendar/limits.ts';
import { Findings } from '../../cli/ingest/entries.ts';
import { calendar, NOW } from '../fixtures/ingest/calendar.ts';
import { pieces } from '../support/ingest-readers.ts';

async function read(text: string, budget?: FileBudget) {
  const findings = new Findings();
  const groups = await Array.fromAsync(readCalendar(pieces(text), 'test.ics', findings, NOW, budget));
  const lines = (told: readonly { line: number; message: string }[]) =>
    told.map(({ line, message }) => `${line}: ${message}`);
  const { faults, notices } = findings.faults;
  return { groups, uids: groups.map(({ uid }) => uid), faults: lines(faults), notices: lines(notices) };
}

const single = (uid: string) => `UID:${uid}\nDTSTART:20260302T090000Z`;
const series = (uid: string, rule: string) => `${single(uid)}\nRRULE:${rule}`;

describe('the rules of a whole file', () => {
  test('300 that recur every few seconds are given up one by one, and the rest is kept', async () => {
    const events = Array.from({ length: 300 }, (_, index) =>
      series(`often-${index}@x`, `FREQ=SECONDLY;INTERVAL=${index + 1}`),
    );
    const { uids, faults } = await read(
      calendar(single('first@x'), ...events, series('last@x', 'FREQ=DAILY')),
    );
    expect(uids).toEqual(['first@x', 'last@x']);
    expect(faults.length).toBe(300);
    for (const [index, told] of faults.entries()) {
      expect(told).toStartWith(`${10 + 5 * index}: `);
      expect(told).toEndWith(`(UID "often-${index}@x")`);
    }
  });

  const never = (index: number) => `FREQ=DAILY;INTERVAL=${index + 7};BYMONTH=2;BYMONTHDAY=30`;

  test('what they share is used up, and then each has some steps of its own', async () => {
    const events = Array.from({ length: 4 }, (_, index) => series(`never-${index}@x`, never(index)));
    const { uids, faults } = await read(
      calendar(...events, series('own@x', 'FREQ=WEEKLY')),
      new FileBudget({ steps: 25_000 }),
    );
    expect(uids).toEqual(['own@x']);
    expect(faults.map((told) => told.replace(/^\d+: | \(UID.*/g, ''))).toEqual([
      'RRULE has no occurrences',
      ...Array(3).fill(
        'RRULE needs too many steps after the earlier rules in this file; put the event into a separate file',
      ),
    ]);
  });

  test('those of zones are counted too', async () => {
    const zone = [
      ...['BEGIN:VTIMEZONE', 'TZID:Own', 'BEGIN:STANDARD', 'DTSTART:16010101T000000'],
      ...['RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU', 'TZOFFSETFROM:+0200', 'TZOFFSETTO:+0100'],
      ...['END:STANDARD', 'END:VTIMEZONE', ''],
    ];
    const text = calendar('UID:a@x\nDTSTART;TZID=Own:20260302T090000', single('b@x')).replace(
      'BEGIN:VEVENT',
      `${zone.join('\n')}BEGIN:VEVENT`,
    );
    expect(await read(text)).toMatchObject({ uids: ['a@x', 'b@x'], faults: [] });
    const { uids, faults } = await read(text, new FileBudget({ steps: 1_000 }));
    expect(uids).toEqual(['b@x']);
    expect(faults.join()).toContain('whose VTIMEZONE in line 3 has an invalid rule in line 7');
  });

  test('the meetings that they give are counted', async () => {
    const hourly = (uid: string) => series(uid, 'FREQ=HOURLY;COUNT=2000');
    const text = calendar(hourly('a@x'), hourly('b@x'), series('daily@x', 'FREQ=DAILY'), single('single@x'));
    expect((await read(text)).uids).toEqual(['a@x', 'b@x', 'daily@x', 'single@x']);
    const { uids, faults } = await read(text, new FileBudget({ instances: 1_600 }));
    expect(uids).toEqual(['a@x', 'daily@x', 'single@x']);
    expect(faults).toEqual([
      '11: the series has too many meetings after the earlier series in this file; put the event into a separate file (UID "b@x")',
    ]);
  });
});

describe('told, and stored all the same', () => {
  test('texts that are longer than a record holds', async () => {
    const texts = `SUMMARY:${'s'.repeat(1_001)}\nDESCRIPTION:${'d'.repeat(10_001)}\nLOCATION:${'l'.repeat(1_000)}`;
    const { groups, faults, notices } = await read(calendar(`${single('a@x')}\n${texts}`));
    expect(notices).toEqual([
      '6: SUMMARY was cut to 1,000 characters',
      '7: DESCRIPTION was cut to 10,000 characters',
    ]);
    expect([faults, String(groups[0]?.entries[0]?.data.description).length]).toEqual([[], 10_000]);
  });

  test('a series without a meeting in the time that is ingested', async () => {
    const leap = `UID:leap@x\nDTSTART:20240229T090000Z\nRRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29`;
    const excluded = `${series('none@x', 'FREQ=DAILY;COUNT=2')}\nEXDATE:20260302T090000Z,20260303T090000Z`;
    const { faults, notices } = await read(calendar(single('a@x'), leap, excluded));
    const why = 'has no meetings in the 400 days closest to today';
    expect(notices).toEqual([`7: the series "leap@x" ${why}`, `12: the series "none@x" ${why}`]);
    expect(faults).toEqual([]);
  });

  test('nothing of an event that is left out', async () => {
    const { faults, notices } = await read(
      calendar(`${single('a@x')}\nSUMMARY:${'s'.repeat(1_001)}\nDTEND:x`),
    );
    expect([faults.length, notices]).toEqual([1, []]);
  });
});

test('components nested deeper than any calendar has them are reported, and the rest is kept', async () => {
  const deep = 'BEGIN:X\n'.repeat(40) + 'END:X\n'.repeat(40);
  const { uids, faults } = await read(calendar(single('a@x'), `${single('b@x')}\n${deep.trim()}`));
  expect(uids).toEqual(['a@x']);
  expect(faults[0]).toContain('BEGIN:X is nested deeper than 32 components');
});
