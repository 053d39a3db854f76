// Meetings from calendars and JSON, and what they log: seen over HTTP, on a real database.
import { describe, expect, test } from 'bun:test';
import { createUser } from '../../db/accounts/accounts.ts';
import { counts, FUTURE, ingestSandbox, NOW, PAST } from '../support/ingest-database.ts';
import type { Json } from '../support/json.ts';

const sandbox = ingestSandbox();
const { get, create, byExternalId, calendar, meetings, recordings, statuses } = sandbox;

describe('meetings', () => {
  test('appear with the contacts who attend and the owner who called them', async () => {
    const contact = await create('contacts', { email: 'ada@x.test' });
    const event = `UID:a@x\n${FUTURE}\nSUMMARY:Kick-off\nORGANIZER;CN=Alice:mailto:alice@acme.test\nATTENDEE;CN=Ada:mailto:ADA@x.test`;
    expect(counts(await calendar([event]))).toEqual([1, 0, 0, 0]);
    const [meeting] = await get('meetings');
    expect(meeting).toMatchObject({
      external_id: 'a@x',
      title: 'Kick-off',
      start_time: Date.parse('2026-04-01T09:00:00Z'),
      end_time: Date.parse('2026-04-01T10:00:00Z'),
      timezone: 'UTC',
      status: 'confirmed',
      description: null,
      organizer: { name: 'Alice', email: 'alice@acme.test' },
      attendees: [{ name: 'Ada', email: 'ADA@x.test', contact_id: contact.id }],
      owner_id: sandbox.alice,
      created_by: sandbox.alice,
      recording_ids: [],
    });
    expect(meeting).not.toHaveProperty('sequence');
  });

  test('ingested again change only where they differ, and keep what was not given', async () => {
    const deal = await create('deals', { name: 'Engine' });
    await calendar([`UID:a@x\n${FUTURE}\nSUMMARY:Kick-off\nLOCATION:Room 4`]);
    const [{ id }] = await get('meetings');
    await sandbox.harness.send('PUT', `/api/v2/meetings/${id}/deal`, {
      key: sandbox.key,
      body: { deal_id: deal.id },
    });
    const [before] = await get('meetings');
    const later = { now: NOW + 60_000 };
    expect(counts(await calendar([`UID:a@x\n${FUTURE}\nSUMMARY:Kick-off\nLOCATION:Room 4`], later))).toEqual([
      0, 0, 1, 0,
    ]);
    expect(await get('meetings')).toEqual([before]);
    expect(counts(await calendar([`UID:a@x\n${FUTURE}\nSUMMARY:Moved on`], later))).toEqual([0, 1, 0, 0]);
    expect(await get('meetings')).toEqual([
      { ...before, title: 'Moved on', updated_at: new Date(later.now).toISOString() },
    ]);
  });

  test('an older revision changes nothing', async () => {
    const revision = (sequence: number) =>
      `UID:a@x\n${FUTURE}\nSEQUENCE:${sequence}\nSUMMARY:Revision ${sequence}`;
    await calendar([revision(2)]);
    expect(counts(await calendar([revision(1)]))).toEqual([0, 0, 1, 0]);
    expect((await get('meetings'))[0].title).toBe('Revision 2');
    await calendar([revision(3)]);
    expect((await get('meetings'))[0].title).toBe('Revision 3');
  });

  test('a cancellation that comes before its invitation stays', async () => {
    await calendar([`UID:a@x\n${FUTURE}\nSEQUENCE:1`], { method: 'CANCEL' });
    await calendar([`UID:a@x\n${FUTURE}\nSEQUENCE:0`], { method: 'REQUEST' });
    expect(await statuses()).toEqual({ 'a@x': 'cancelled' });
  });

  test('have the owner given where the organizer is no user, and theirs once the organizer is one', async () => {
    const bob = await sandbox.harness.store.write('accounts', (trx) =>
      createUser(trx, { orgNumber: sandbox.options.orgNumber, email: 'bob@acme.test', name: null, now: NOW }),
    );
    const by = (email: string) => `UID:a@x\n${FUTURE}\nORGANIZER:mailto:${email}`;
    await calendar([by('stranger@x.test')], { ownerId: bob.id });
    await recordings({ external_id: 'r', meeting_external_id: 'a@x' });
    expect((await get('meetings'))[0].owner_id).toBe(bob.id);
    expect((await get('recordings'))[0].owner_id).toBe(bob.id);
    await calendar([by('ALICE@acme.test')], { ownerId: bob.id });
    expect((await get('meetings'))[0].owner_id).toBe(sandbox.alice);
    expect((await get('recordings'))[0].owner_id).toBe(sandbox.alice);
  });

  test('from JSON are stored with their references; one that names what is not there is a fault', async () => {
    const company = await create('companies', { name: 'Analytical' });
    const report = await meetings(
      { external_id: 'a', company_id: company.id, start_time: NOW },
      { external_id: 'b', deal_id: company.id },
      { external_id: 'c', owner_id: 'nobody' },
      { external_id: 'd' },
    );
    expect(counts(report)).toEqual([2, 0, 0, 0]);
    expect(report.faults.map(({ message }) => message)).toEqual([
      'deal_id: must be the ID of an existing deal',
      'owner_id: must be the ID of an existing user',
    ]);
    const stored = await byExternalId('meetings');
    expect(stored.get('a')?.company_id).toBe(company.id);
    expect([...stored.keys()].sort()).toEqual(['a', 'd']);
  });

  test('of another organization are never touched', async () => {
    await calendar([`UID:a@x\n${FUTURE}\nSUMMARY:Ours`]);
    await calendar([`UID:a@x\n${FUTURE}\nSUMMARY:Theirs`], { orgNumber: sandbox.harness.orgNumber });
    expect((await get('meetings'))[0].title).toBe('Ours');
  });
});

describe('interactions', () => {
  const invited = (...emails: string[]) => emails.map((email) => `ATTENDEE:mailto:${email}`).join('\n');

  test('a past meeting is logged once, with every contact who attended and their companies', async () => {
    const company = await create('companies', { name: 'Analytical' });
    const ada = await create('contacts', { email: 'ada@x.test', company_id: company.id });
    const charles = await create('contacts', { email: 'c@x.test', alt_emails: ['charles@x.test'] });
    const event = `UID:a@x\n${PAST}\nSUMMARY:Kick-off\nORGANIZER:mailto:alice@acme.test\n${invited('stranger@x.test', 'ADA@x.test', 'Charles@x.test')}`;
    await calendar([event]);
    await calendar([event]);
    const logged = await get('interactions');
    expect(logged).toEqual([
      expect.objectContaining({
        type: 'MEETING',
        direction: 'EVENT',
        title: 'Kick-off',
        interaction_date: Date.parse('2026-02-01T09:00:00Z'),
        main_contact: ada.id,
        contact_ids: [ada.id, charles.id].sort(),
        company_ids: [company.id],
        primary_id: 'a@x',
        created_by: sandbox.alice,
      }),
    ]);
    const moved = [
      await get(`contacts/${ada.id}`),
      await get(`contacts/${charles.id}`),
      await get(`companies/${company.id}`),
    ];
    for (const record of moved) expect(record.last_interaction_at).toBe('2026-02-01T09:00:00.000Z');
    await calendar([`UID:b@x\nDTSTART:20260115T090000Z\n${invited('ada@x.test')}`]);
    expect((await get('interactions')).length).toBe(2);
    expect((await get(`contacts/${ada.id}`)).last_interaction_at).toBe('2026-02-01T09:00:00.000Z');
  });

  test.each([
    ['still to come', `UID:a@x\n${FUTURE}`],
    ['still going on', 'UID:a@x\nDTSTART:20260301T113000Z\nDTEND:20260301T123000Z'],
    ['cancelled', `UID:a@x\n${PAST}\nSTATUS:CANCELLED`],
  ])('a meeting %s is not logged', async (_, event) => {
    await create('contacts', { email: 'ada@x.test' });
    await calendar([`${event}\n${invited('ada@x.test')}`]);
    expect(await get('interactions')).toEqual([]);
  });

  test('a meeting is logged once it is over, and once one of its attendees is a contact', async () => {
    const event = `UID:a@x\n${FUTURE}\n${invited('ada@x.test')}`;
    const afterwards = { now: Date.parse('2026-04-01T10:00:00Z') };
    await calendar([event], afterwards);
    expect(await get('interactions')).toEqual([]);
    await create('contacts', { email: 'ada@x.test' });
    await calendar([event]);
    expect(await get('interactions')).toEqual([]);
    await calendar([event], afterwards);
    expect((await get('interactions')).length).toBe(1);
  });

  test('each past instance of a series is logged', async () => {
    await create('contacts', { email: 'ada@x.test' });
    const series = `UID:s@x\nDTSTART:20260226T090000Z\nRRULE:FREQ=DAILY;COUNT=6\n${invited('ada@x.test')}`;
    await calendar([series]);
    await calendar([series]);
    const ids = (await get('interactions')).map((one: Json) => one.primary_id).sort();
    expect(ids).toEqual([26, 27, 28].map((day) => `s@x/202602${day}T090000Z`).concat('s@x/20260301T090000Z'));
  });
});
