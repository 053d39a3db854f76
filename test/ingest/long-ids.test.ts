// External IDs of the maximum length: entries, and the instances of a series, are recognized by them.
import { expect, test } from 'bun:test';
import { counts, ingestSandbox } from '../support/ingest-database.ts';
import { longText, SCRIPTS } from '../support/long-texts.ts';

const sandbox = ingestSandbox();

for (const script of SCRIPTS) {
  const id = longText(script);

  test(`meetings, recordings and bookings by an id of ${script}`, async () => {
    const other = `${id.slice(0, 998)}00`;
    const email = `${longText('letters', 980)}@mail.example`;
    expect(counts(await sandbox.meetings({ external_id: id }, { external_id: other }))).toEqual([2, 0, 0, 0]);
    expect(counts(await sandbox.meetings({ external_id: id, title: 'T' }))).toEqual([0, 1, 0, 0]);
    const recording = { external_id: id, meeting_external_id: other };
    expect(counts(await sandbox.recordings(recording))).toEqual([1, 0, 0, 0]);
    expect(counts(await sandbox.recordings(recording))).toEqual([0, 0, 1, 0]);
    const booking = { external_id: id, attendee: { name: null, email } };
    expect(counts(await sandbox.bookings(booking))).toEqual([1, 0, 0, 0]);
    expect(counts(await sandbox.bookings(booking))).toEqual([0, 0, 1, 0]);
    const meeting = (await sandbox.byExternalId('meetings')).get(other);
    expect((await sandbox.byExternalId('recordings')).get(id)).toMatchObject({ meeting_id: meeting?.id });
    const booked = await sandbox.get(`bookings?attendee_email=${encodeURIComponent(email.toUpperCase())}`);
    expect(booked).toMatchObject([{ external_id: id }]);
  });

  // Around the length from which on a key is no more the text itself.
  for (const length of [238, 240, 255, 256, 257, 900]) {
    test(`a series whose UID has ${length} characters of ${script} loses an instance`, async () => {
      const uid = id.slice(0, length).toWellFormed();
      const rule = `DTSTART:20260228T090000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=4`;
      const similar = `${uid}x`;
      await sandbox.meetings({ external_id: `${uid}/notes` }, { external_id: `${similar}/20260301T090000Z` });
      expect(counts(await sandbox.calendar([`UID:${uid}\n${rule}`]))).toEqual([4, 0, 0, 0]);
      const without = `UID:${uid}\n${rule}\nEXDATE:20260301T090000Z`;
      expect(counts(await sandbox.calendar([without]))).toEqual([0, 0, 3, 1]);
      expect(await sandbox.statuses()).toMatchObject({
        [`${uid}/20260228T090000Z`]: 'confirmed',
        [`${uid}/20260301T090000Z`]: 'cancelled',
        [`${uid}/notes`]: 'confirmed',
        [`${similar}/20260301T090000Z`]: 'confirmed',
      });
    });
  }
}
