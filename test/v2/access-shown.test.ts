// Access level `user`: what computed fields, associations, links and transcripts show of the records of others.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Harness, startHarness } from '../support/harness.ts';
import { insertReadOnly, insertTranscribed } from '../support/read-only.ts';
import { type Client, clientOf, expectFault, expectMissing, uniqueEmail, wordsOf } from '../support/v2.ts';

let harness: Harness;
let org: Client;
let alice: Client;
let bob: Client;

beforeAll(async () => {
  harness = await startHarness();
  org = clientOf(harness);
  alice = await org.withKey({ userId: harness.alice });
  bob = await org.withKey({ userId: harness.bob });
});
afterAll(() => harness.close());

describe('computed fields', () => {
  test('member_count counts what a list of the members shows', async () => {
    const segment = await alice.create('segments');
    for (const client of [alice, bob, org]) {
      const { id } = await client.create('contacts');
      await org.post(`/segments/${segment.id}/members`, { record_id: id });
    }
    expect((await alice.fetch('segments', segment.id)).member_count).toBe(1);
    expect((await org.fetch('segments', segment.id)).member_count).toBe(3);
  });

  test('attendees are matched with contacts that the key sees', async () => {
    const { email, id } = await bob.create('contacts', { email: uniqueEmail() });
    const attendee = { name: null, email };
    const owner_id = harness.alice;
    const meeting = await insertReadOnly(harness, 'meetings', { owner_id, attendees: [attendee] });
    const booking = await insertReadOnly(harness, 'bookings', { owner_id, attendee });
    expect((await alice.fetch('meetings', meeting)).attendees[0].contact_id).toBeNull();
    expect((await alice.fetch('bookings', booking)).attendee.contact_id).toBeNull();
    expect((await org.fetch('meetings', meeting)).attendees[0].contact_id).toBe(id);
    expect((await org.fetch('bookings', booking)).attendee.contact_id).toBe(id);
  });
});

for (const [name, resource] of [
  ['deal', 'deals'],
  ['company', 'companies'],
] as const) {
  test(`the ${name} of a meeting: another's is not read, set or told of`, async () => {
    const field = `${name}_id`;
    const [own, others] = [
      await insertReadOnly(harness, 'meetings', { owner_id: harness.alice }),
      await insertReadOnly(harness, 'meetings', { owner_id: harness.bob }),
    ];
    const hidden = await bob.create(resource);
    const mine = await alice.create(resource);
    const put = (meeting: string, id: string) => alice.put(`/meetings/${meeting}/${name}`, { [field]: id });
    expectFault(await put(own, hidden.id), 'VALIDATION_FAILED', field);
    expect(wordsOf(await put(own, hidden.id))).toEqual(wordsOf(await put(own, 'absent')));
    for (const method of ['get', 'del'] as const) {
      const reply = await alice[method](`/meetings/${others}/${name}`);
      expectMissing(reply);
      expect(wordsOf(reply)).toEqual(wordsOf(await alice[method](`/meetings/absent/${name}`)));
    }
    expect(wordsOf(await put(others, mine.id))).toEqual(wordsOf(await put('absent', mine.id)));
    const unset = await alice.get(`/meetings/${own}/${name}`);
    await org.put(`/meetings/${own}/${name}`, { [field]: hidden.id });
    expect(wordsOf(await alice.get(`/meetings/${own}/${name}`))).toEqual(wordsOf(unset));
    expect((await put(own, mine.id)).body.data).toEqual(mine);
  });
}

test("a recording of another issues no link, one's own does", async () => {
  const own = await insertTranscribed(harness, { owner_id: harness.alice });
  const other = await insertTranscribed(harness, { owner_id: harness.bob });
  expect((await alice.fetch('recordings', own)).transcript_url).toContain('token=');
  expectMissing(await alice.get(`/recordings/${other}`));
});

test('a supervisor in a deal is a contact that the key sees', async () => {
  const path = `/deals/${(await alice.create('deals')).id}/contacts`;
  const contact_id = (await alice.create('contacts')).id;
  const hidden = await alice.post(path, { contact_id, supervisor: (await bob.create('contacts')).id });
  expectFault(hidden, 'VALIDATION_FAILED', 'supervisor');
  expect(wordsOf(hidden)).toEqual(wordsOf(await alice.post(path, { contact_id, supervisor: 'absent' })));
});
