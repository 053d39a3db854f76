// The log of changes after a person was erased: it contains nothing of theirs, also of what was deleted before.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { erasePerson } from '../../db/people/erase.ts';
import { findPerson } from '../../db/people/person.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { type Client, clientOf } from '../support/v2.ts';

const EMAIL = 'ada.h@hidden.example';
// A value that has no address next to it.
const SECRET = 'Unforgettable';

let harness: Harness;
let api: Client;
beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

async function erase(): Promise<void> {
  const person = await findPerson(harness.store.read, harness.orgNumber, EMAIL);
  const options = { isDryRun: false, onProgress: () => undefined, finish: async () => undefined };
  await erasePerson(harness.store, person, options);
}

async function logged(): Promise<string> {
  const rows = await harness.store.read.selectFrom('changes').select('data').execute();
  return JSON.stringify(rows);
}

/** A contact of the person with a link and a changed name, neither of which mentions the address. */
async function createAda(name: string): Promise<string> {
  const { id } = await api.create('contacts', { email: EMAIL, first_name: name });
  await api.update('contacts', id, { first_name: `${name} Maria` });
  const deal = await api.create('deals');
  await api.post(`/deals/${deal.id}/contacts`, { contact_id: id });
  return id;
}

test('nothing is left of a contact that the person had before', async () => {
  const former = await createAda(SECRET);
  await api.del(`/contacts/${former}`);
  const other = await api.create('contacts', { email: 'bob@x.example', first_name: 'Bob' });
  await api.update('contacts', other.id, { first_name: 'Robert' });
  await createAda('Ada');
  expect(await logged()).toContain(SECRET);
  await erase();
  const left = await logged();
  for (const hidden of [SECRET, former, EMAIL]) expect(left).not.toContain(hidden);
  expect(left).toContain('Robert');
});

test('nothing is left of a person who was deleted already', async () => {
  const former = await createAda(SECRET);
  await api.del(`/contacts/${former}`);
  expect(await logged()).toContain(SECRET);
  await erase();
  const left = await logged();
  for (const hidden of [SECRET, former, EMAIL]) expect(left).not.toContain(hidden);
  expect((await api.post(`/contacts/${former}/undelete`)).status).toBe(404);
});

test('nothing is left of a person in a long log, from its start to its end', async () => {
  const { store, orgNumber } = harness;
  const former = [await createAda(SECRET)];
  for (const gap of [9_999, 10_000, 25_000]) {
    await api.del(`/contacts/${former.at(-1)}`);
    await store.write(orgNumber, (trx) =>
      trx
        .updateTable('org_clocks')
        .set((eb) => ({ last_change: eb('last_change', '+', gap) }))
        .where('org_id', '=', orgNumber)
        .execute(),
    );
    const { id } = await api.create('tasks', { name: 'T' });
    for (let count = 0; count < 150; count++) await api.update('tasks', id, { name: String(count) });
    former.push(await createAda(SECRET));
  }
  await erase();
  const left = await logged();
  for (const hidden of [SECRET, ...former, EMAIL]) expect(left).not.toContain(hidden);
});
