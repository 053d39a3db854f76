// Series of meetings, ingested again and again: seen over HTTP, on a real database.
import { describe, expect, test } from 'bun:test';
import { ingestMeetings } from '../../db/ingest/meetings.ts';
import { counts, ingestSandbox, NOW } from '../support/ingest-database.ts';
import { readCalendar } from '../support/ingest-readers.ts';

const sandbox = ingestSandbox();
const { get, byExternalId, calendar, meetings, statuses } = sandbox;

describe('a series', () => {
  const daily = (more = '', start = 'DTSTART:20260228T090000Z') =>
    `UID:s@x\n${start}\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=4${more}`;

  test('ingested again doubles nothing', async () => {
    expect(counts(await calendar([daily()]))).toEqual([4, 0, 0, 0]);
    expect(counts(await calendar([daily()]))).toEqual([0, 0, 4, 0]);
    expect((await get('meetings')).length).toBe(4);
  });

  test('loses the instances that its calendar no longer has, and gets them back', async () => {
    await calendar([daily()]);
    const without = daily('\nEXDATE:20260301T090000Z');
    expect(counts(await calendar([without]))).toEqual([0, 0, 3, 1]);
    expect(await statuses()).toEqual({
      's@x/20260228T090000Z': 'confirmed',
      's@x/20260301T090000Z': 'cancelled',
      's@x/20260302T090000Z': 'confirmed',
      's@x/20260303T090000Z': 'confirmed',
    });
    expect(counts(await calendar([without]))).toEqual([0, 0, 3, 0]);
    await calendar([daily()]);
    expect(Object.values(await statuses())).toEqual(Array(4).fill('confirmed'));
  });

  test('keeps what lies outside of the window', async () => {
    const endless = 'UID:s@x\nDTSTART:20250101T090000Z\nRRULE:FREQ=MONTHLY';
    await calendar([endless]);
    const before = Object.keys(await statuses());
    await calendar([endless], { now: NOW + 90 * 86_400_000 });
    const after = await statuses();
    expect(Object.keys(after).length).toBe(before.length + 3);
    expect(new Set(Object.values(after))).toEqual(new Set(['confirmed']));
  });

  test('of several hundred instances is shortened as a whole', async () => {
    const until = (day: string) => `UID:s@x\nDTSTART:20260101T090000Z\nRRULE:FREQ=DAILY;UNTIL=${day}`;
    expect(counts(await calendar([until('20261231')]))).toEqual([365, 0, 0, 0]);
    expect(counts(await calendar([until('20260110')]))).toEqual([0, 0, 10, 355]);
  });

  test('that is called off cancels every instance and makes no meeting of its own', async () => {
    await calendar([daily()]);
    expect(
      counts(await calendar(['UID:s@x\nDTSTART:20260228T090000Z\nSEQUENCE:1'], { method: 'CANCEL' })),
    ).toEqual([0, 0, 1, 4]);
    const all = await statuses();
    expect(Object.keys(all).length).toBe(4);
    expect(new Set(Object.values(all))).toEqual(new Set(['cancelled']));
  });

  test('keeps the others when one instance is cancelled', async () => {
    await calendar([daily()]);
    const one =
      'UID:s@x\nRECURRENCE-ID;TZID=Europe/Berlin:20260301T100000\nDTSTART:20260301T090000Z\nSEQUENCE:1';
    expect(counts(await calendar([one], { method: 'CANCEL' }))).toEqual([0, 0, 0, 1]);
    expect((await statuses())['s@x/20260301T090000Z']).toBe('cancelled');
    await calendar([daily()]);
    expect((await statuses())['s@x/20260301T090000Z']).toBe('cancelled');
  });

  test('leaves an instance as it is that is described badly', async () => {
    const moved = 'UID:s@x\nRECURRENCE-ID:20260301T090000Z\nDTSTART:20260301T150000Z\nSUMMARY:Moved';
    await calendar([daily(), moved]);
    const bad = `BEGIN:VCALENDAR\nBEGIN:VEVENT\n${daily()}\nEND:VEVENT\nBEGIN:VEVENT\n${moved}\nDURATION:long\nEND:VEVENT\nEND:VCALENDAR\n`;
    const { entries, faults } = await readCalendar(bad, NOW);
    expect(faults.map(({ line }) => line)).toEqual([13]);
    expect(counts(await ingestMeetings(sandbox.harness.store, sandbox.options, entries))).toEqual([
      0, 0, 3, 0,
    ]);
    const instance = (await byExternalId('meetings')).get('s@x/20260301T090000Z');
    expect(instance).toMatchObject({
      title: 'Moved',
      status: 'confirmed',
      start_time: Date.parse('2026-03-01T15:00:00Z'),
    });
  });

  test('and a single meeting replace each other', async () => {
    const single = 'UID:s@x\nDTSTART:20260228T090000Z';
    await calendar([single]);
    await calendar([daily()]);
    expect((await statuses())['s@x']).toBe('cancelled');
    await calendar([single]);
    const { 's@x': own, ...instances } = await statuses();
    expect(own).toBe('confirmed');
    expect(new Set(Object.values(instances))).toEqual(new Set(['cancelled']));
  });

  test('leaves meetings alone whose ids only look like its own', async () => {
    await meetings(
      { external_id: 's@x/notes' },
      { external_id: 's@x/20260301T090000Z/b' },
      { external_id: 's@xy' },
    );
    await calendar([daily()]);
    const { 's@x/notes': a, 's@x/20260301T090000Z/b': b, 's@xy': c } = await statuses();
    expect([a, b, c]).toEqual(['confirmed', 'confirmed', 'confirmed']);
  });
});
