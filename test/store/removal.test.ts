// Organizations that are deleted and users who are removed, while the service runs.
import { afterEach, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { createOrganization, findUser, getOrganization } from '../../db/accounts/accounts.ts';
import { listTables } from '../../db/maintenance.ts';
import { countOrganizationRows, removeOrganization } from '../../db/removal/organization.ts';
import { countOwned, findKeysOfUser, removeUser } from '../../db/removal/user.ts';
import { compareIndex } from '../../db/search/check.ts';
import type { Harness } from '../support/harness.ts';
import { BASE_URL, startHarness } from '../support/harness.ts';
import { insertReadOnly, insertTranscribed } from '../support/read-only.ts';
import { type Client, clientOf } from '../support/v2.ts';

let harness: Harness;
afterEach(() => harness.close());

/** Records of every kind that a key can create, with what hangs on them. */
async function fill(api: Client): Promise<void> {
  const company = await api.create('companies', { name: 'Byron Mills', domain: 'byron.example' });
  const contact = await api.create('contacts', { email: 'ada@example.com', company_id: company.id });
  const deal = await api.create('deals', { name: 'Loom', company_id: company.id });
  await api.put(`/deals/${deal.id}/contacts/${contact.id}`, {});
  let parent: string | null = null;
  for (let level = 0; level < 4; level++)
    parent = (await api.create('notes', { title: 'Note', content: `Level ${level}`, parent_id: parent })).id;
  await api.create('tasks', { name: 'Call' });
  await api.create('segments');
  const memo = { type: 'MEMO', direction: 'INTERNAL', title: 'Memo', main_contact: contact.id };
  await api.create('interactions', memo);
  await api.post(`/contacts/${contact.id}/external_ids`, { source: 'erp', id: '1' });
  await api.post(
    '/contacts/batch',
    Array.from({ length: 100 }, (_, n) => ({ first_name: `N${n}` })),
  );
  await api.del(`/tasks/${(await api.create('tasks', { name: 'Gone' })).id}`);
  await api.post('/webhooks', { url: 'https://hooks.example/crm', events: ['contact.created'] });
}

async function rowsLeft(orgNumber: number): Promise<Record<string, number>> {
  const left: Record<string, number> = {};
  for (const { name, columns } of await listTables()) {
    if (!columns.includes('org_id')) continue;
    const counting = sql<{
      n: number;
    }>`select count(*) as n from ${sql.table(name)} where org_id = ${orgNumber}`;
    const n = Number((await counting.execute(harness.store.read)).rows[0]?.n ?? 0);
    if (n > 0) left[name] = n;
  }
  return left;
}

test('an organization goes with everything that it has, and its number is not given again', async () => {
  harness = await startHarness();
  const { store, otherOrgNumber } = harness;
  const api = clientOf(harness);
  await fill(api);
  await insertTranscribed(harness);
  const other = clientOf(harness, (await harness.issue({ orgNumber: otherOrgNumber })).key);
  await fill(other);
  const before = await countOrganizationRows(store.read, otherOrgNumber);
  const doomed = await getOrganization(store.read, harness.orgNumber);

  const total = await countOrganizationRows(store.read, doomed.number);
  let told = 0;
  const late: Promise<string>[] = [];
  await removeOrganization(store, doomed, {
    onProgress: (rows) => {
      told += rows;
      // As a request that began before, and is carried out in the middle of it.
      if (late.length === 0)
        late.push(insertReadOnly(harness, 'meetings', { title: 'Late' }).catch((error) => error.name));
    },
    // The secrets of its two keys went first.
    finish: async (_trx, rows) => expect([rows, told]).toEqual([total - 2, total - 2]),
  });
  expect(await Promise.all(late)).toEqual(['QuotaError']);
  expect(Object.keys(await rowsLeft(doomed.number))).toEqual(['org_clocks', 'audit_log']);
  expect((await api.get('/contacts')).status).toBe(401);
  expect(await countOrganizationRows(store.read, otherOrgNumber)).toBe(before);
  expect((await other.list('/deals')).map(({ name }) => name)).toEqual(['Loom']);
  const next = await store.write('accounts', (trx) => createOrganization(trx, 'Acme', Date.now()));
  expect(next.number).toBeGreaterThan(otherOrgNumber);
  expect((await rowsLeft(next.number)).pipelines).toBe(1);
});

test('a webhook of a request that was under way is refused', async () => {
  harness = await startHarness();
  const { store, orgNumber, v2 } = harness;
  const isRemoved = Promise.withResolvers<void>();
  const isReading = Promise.withResolvers<void>();
  const body = new ReadableStream({
    async pull(controller) {
      isReading.resolve();
      await isRemoved.promise;
      const webhook = { url: 'https://hooks.example/crm', events: ['contacts.created'] };
      controller.enqueue(new TextEncoder().encode(JSON.stringify(webhook)));
      controller.close();
    },
  });
  const headers = {
    ...{ Authorization: `Bearer ${v2}`, 'Content-Type': 'application/json' },
    'Idempotency-Key': 'once',
  };
  const init = { method: 'POST', headers, body };
  const answer = harness.handle(new Request(`${BASE_URL}/api/v2/webhooks`, init));
  await isReading.promise;
  const org = await getOrganization(store.read, orgNumber);
  await removeOrganization(store, org, { onProgress: () => {}, finish: async () => {} });
  isRemoved.resolve();
  const { status, headers: told } = await answer;
  expect([status, told.get('WWW-Authenticate')]).toEqual([401, 'Bearer']);
  expect(Object.keys(await rowsLeft(orgNumber))).not.toContain('webhooks');
});

test('a removal that was interrupted is completed by running it again', async () => {
  harness = await startHarness();
  const { store, orgNumber } = harness;
  await fill(clientOf(harness));
  const org = await getOrganization(store.read, orgNumber);
  const run = (onProgress: () => void) =>
    removeOrganization(store, org, { onProgress, finish: async () => {} });
  const interrupted = run(() => {
    throw new Error('interrupted');
  });
  await expect(interrupted).rejects.toThrow('interrupted');
  expect((await clientOf(harness).get('/contacts')).status).toBe(401);
  await run(() => {});
  expect(Object.keys(await rowsLeft(orgNumber))).toEqual(['org_clocks', 'audit_log']);
});

test("a user's records of every kind go to another user, in lists, searches and changes", async () => {
  harness = await startHarness();
  const { store, orgNumber, alice, bob } = harness;
  const api = clientOf(harness);
  const hers = await api.withKey({ userId: alice });
  const his = await api.withKey({ userId: bob });
  await fill(hers);
  const users = await Promise.all([alice, bob].map((id) => findUser(store.read, orgNumber, id)));
  const [from, to] = users;
  if (from === undefined || to === undefined) throw new Error('there are no users');
  await insertTranscribed(harness, { owner_id: alice });
  expect(await countOwned(store.read, from)).toMatchObject({
    contacts: 101,
    deals: 1,
    notes: 4,
    recordings: 1,
  });
  expect(await findKeysOfUser(store.read, from)).toHaveLength(1);
  expect(await his.list('/notes')).toEqual([]);

  const told = await removeUser(store, { from, to, finish: async () => {} });
  expect(told).toMatchObject({
    companies: 1,
    contacts: 101,
    deals: 1,
    interactions: 1,
    notes: 4,
    segments: 1,
    tasks: 1,
  });
  expect(await findUser(store.read, orgNumber, alice)).toBeUndefined();
  expect(await countOwned(store.read, from)).toEqual({});
  for (const resource of ['companies', 'deals', 'interactions', 'notes', 'recordings', 'segments', 'tasks'])
    expect([resource, (await his.list(`/${resource}`)).length]).toEqual([resource, told[resource] ?? 0]);
  const [deal] = await his.list('/deals');
  expect(deal.owner_id).toBe(bob);
  expect((await his.list('/search?q=Level')).length).toBe(4);
  expect(JSON.stringify(await his.list('/search?q=Loom'))).toContain(deal.id);
  expect((await compareIndex(store.read, orgNumber)).faulty).toBe(0);
  const [change] = await api.list(`/deals/${deal.id}/history`);
  expect(change).toMatchObject({
    action: 'updated',
    before: { owner_id: alice },
    after: { owner_id: bob },
    actor: { type: 'operator' },
  });
  // For a key of the new owner, the record has only now come to be.
  expect((await his.list('/changes?resource=notes'))[0]).toMatchObject({ action: 'created' });
});
