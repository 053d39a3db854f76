// Quotas of an organization: exact under load, given back at once, told in refusals, and off unless they are set.
import { afterEach, describe, expect, test } from 'bun:test';
import {
  type Harness,
  type HarnessOptions,
  type Json,
  type Reply,
  startHarness,
} from '../support/harness.ts';
import { fillOrganization } from '../support/organization.ts';
import { countedIn, recordTotalsOf, setQuota } from '../support/quota.ts';
import { insertReadOnly, insertTranscribed } from '../support/read-only.ts';
import { type Client, clientOf } from '../support/v2.ts';

let harness: Harness;
let client: Client;
afterEach(() => harness.close());

async function start(options: HarnessOptions = {}): Promise<void> {
  harness = await startHarness(options);
  client = clientOf(harness);
}

// The organization has its first pipeline, `Sales`: 1 record of 5 bytes.
const SALES = { records: 1, bytes: 5 };

function expectRefusal({ status, body }: Reply, lacking: 'records' | 'bytes'): void {
  expect(status).toBe(403);
  expect(body.error.code).toBe('OPERATION_FORBIDDEN');
  expect(body.error.details).toEqual([
    { path: `quota.${lacking}`, message: expect.stringContaining(lacking), code: 'OPERATION_FORBIDDEN' },
  ]);
}

const quotaHeaders = ({ headers }: Reply) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('x-quota-')));

async function expectExact(): Promise<void> {
  expect(await countedIn(harness)).toEqual(await recordTotalsOf(harness));
}

describe('a quota of records', () => {
  test('lets in as many as it says of a hundred creates at once, and one more for each that is deleted', async () => {
    await start();
    await setQuota(harness, { records: 61 });
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, index) => client.post('/contacts', { first_name: `C${index}` })),
    );
    const refused = replies.filter(({ status }) => status !== 201);
    expect(refused.length).toBe(40);
    for (const reply of refused) expectRefusal(reply, 'records');
    const [first] = refused;
    expect(first && quotaHeaders(first)).toEqual({
      'x-quota-records-limit': '61',
      'x-quota-records-used': '61',
    });
    expect(first?.headers.get('X-RateLimit-Limit')).not.toBeNull();
    expect(first?.body.error.message).toBe(
      'The organization has 61 of the 61 records that its quota allows; delete records you do not need, or ask your operator for a larger quota.',
    );
    expect((await client.ids('/contacts?limit=200')).length).toBe(60);
    const [id] = await client.ids('/contacts?limit=1');
    expect((await client.del(`/contacts/${id}`)).status).toBe(204);
    const again = await Promise.all([1, 2, 3].map((n) => client.post('/companies', { name: `C${n}` })));
    expect(again.map(({ status }) => status).sort()).toEqual([201, 403, 403]);
    await expectExact();
  });

  test('refuses the items of a batch that are beyond it, and those after a refused one see nothing of it', async () => {
    await start();
    await setQuota(harness, { records: 3 });
    const items = ['a@x.test', 'b@x.test', 'c@x.test', 'c@x.test', 'no address'].map((email) => ({ email }));
    const { status, body } = await client.post('/contacts/batch', items);
    expect(status).toBe(200);
    expect(body.data.items.map((item: Json) => item.error?.code ?? item.status)).toEqual([
      ...['created', 'created', 'OPERATION_FORBIDDEN', 'OPERATION_FORBIDDEN', 'VALIDATION_INVALID_FORMAT'],
    ]);
    expect(body.data.items[2].error.details[0].path).toBe('quota.records');
    expect(body.data.summary).toEqual({ total: 5, succeeded: 2, failed: 3 });
    await expectExact();
  });

  test('holds for a contact that an interaction makes: both are written, or neither', async () => {
    await start();
    await setQuota(harness, { records: 4 });
    const about = (email: string) => ({
      ...{ type: 'EMAIL', direction: 'INBOUND', title: 'Hello', primary_id: email },
      main_contact_email: email,
    });
    expect((await client.post('/interactions', about('a@x.test'))).status).toBe(201);
    const refused = await client.post('/interactions', about('b@x.test'));
    expectRefusal(refused, 'records');
    expect(quotaHeaders(refused)['x-quota-records-used']).toBe('3');
    expect(await client.ids('/contacts?email=b@x.test')).toEqual([]);
    // One that repeats another is not written.
    const repeated = await client.post('/interactions', about('a@x.test'));
    expect(repeated.body.data.is_duplicate).toBe(true);
    const batch = await client.post('/interactions/batch', [
      about('b@x.test'),
      { ...about('a@x.test'), primary_id: 'other' },
      about('a@x.test'),
      { ...about('a@x.test'), primary_id: 'another' },
    ]);
    expect(batch.body.data.items.map((item: Json) => item.error?.code ?? item.status)).toEqual([
      ...['OPERATION_FORBIDDEN', 'created', 'created', 'OPERATION_FORBIDDEN'],
    ]);
    await expectExact();
  });

  test('holds in version 1 too, where what is there already can be changed', async () => {
    await start();
    const put = (email: string) =>
      harness.send('PUT', '/api/v1/people', { body: { email, firstName: 'Ada' } });
    const post = (path: string, body: Json) => harness.send('POST', `/api/v1/${path}`, { body });
    expect((await put('a@x.test')).status).toBe(200);
    await setQuota(harness, { records: 2 });
    expect((await put('a@x.test')).status).toBe(200);
    expectRefusal(await put('b@x.test'), 'records');
    expectRefusal(await post('people', { type: 'email', identifier: 'b@x.test', firstName: 'B' }), 'records');
    expectRefusal(await post('companies', { domain: 'x.test' }), 'records');
    const interaction = { type: 'EMAIL', direction: 'INBOUND', title: 'A', mainContactEmail: 'b@x.test' };
    expectRefusal(await post('interactions', interaction), 'records');
    await expectExact();
  });

  test('keeps no answer to a refused request, so that the same one succeeds once there is room', async () => {
    await start();
    await setQuota(harness, { records: 1 });
    const send = () =>
      harness.send('POST', '/api/v2/contacts', {
        body: { first_name: 'Ada' },
        headers: { 'Idempotency-Key': 'one' },
      });
    expectRefusal(await send(), 'records');
    await setQuota(harness, { records: 2 });
    const created = await send();
    expect([created.status, created.headers.get('Idempotent-Replayed')]).toEqual([201, null]);
    expect((await send()).headers.get('Idempotent-Replayed')).toBe('true');
    await expectExact();
  });
});

describe('a quota of bytes', () => {
  test('refuses what grows beyond it, and lets through what shrinks, though it is used up', async () => {
    await start();
    const note = await client.create('notes', { title: 'é', content: 'x'.repeat(98) });
    await setQuota(harness, { bytes: 105 });
    expect(await countedIn(harness)).toEqual({ records: 2, bytes: 105 });
    const path = `/notes/${note.id}`;
    const refused = await client.patch(path, { title: 'éa' });
    expectRefusal(refused, 'bytes');
    expect(quotaHeaders(refused)).toEqual({ 'x-quota-bytes-limit': '105', 'x-quota-bytes-used': '105' });
    expect((await client.fetch('notes', note.id)).title).toBe('é');
    expect((await client.patch(path, { title: 'ab', is_archived: true })).status).toBe(200);
    await setQuota(harness, { bytes: 50 });
    expect((await client.patch(path, { content: 'x'.repeat(97) })).status).toBe(200);
    expect((await client.patch(path, { content: 'y'.repeat(97) })).status).toBe(200);
    expectRefusal(await client.patch(path, { content: 'x'.repeat(98) }), 'bytes');
    expectRefusal(await client.post('/notes', { title: 'B' }), 'bytes');
    await expectExact();
  });

  test('lets a small item of a batch in after one that was too long', async () => {
    await start();
    await setQuota(harness, { bytes: 15 });
    const { body } = await client.post('/notes/batch', [
      { title: 'five5' },
      { title: 'more than five' },
      { title: 'five5' },
    ]);
    expect(body.data.items.map((item: Json) => item.error?.details[0].path ?? item.status)).toEqual([
      ...['created', 'quota.bytes', 'created'],
    ]);
    await expectExact();
  });
});

describe('what is counted', () => {
  test('stays what there is through every kind of write', async () => {
    await start({ isRehearsed: true });
    await setQuota(harness, { records: 1_000_000 });
    expect(await countedIn(harness)).toEqual(SALES);
    await fillOrganization(harness);
    await insertReadOnly(harness, 'bookings', { title: 'Call', guests: ['ö@x.test'] });
    await insertTranscribed(harness);
    await expectExact();
    await client.post('/contacts/batch', [{ first_name: 'A', custom: { a: 'ö' } }, { email: 'no' }]);
    const [contact] = await client.ids('/contacts?email=ada@acme.test');
    await client.update('contacts', String(contact), { custom: { b: 'c' }, alt_emails: ['o@x.test'] });
    await expectExact();
    for (const resource of ['contacts', 'companies', 'notes', 'deals', 'tasks', 'segments']) {
      for (const id of await client.ids(`/${resource}`)) {
        expect((await client.del(`/${resource}/${id}`)).status).toBe(204);
        await expectExact();
      }
    }
  });

  test('is counted again when the quota is set, and no more once there is none', async () => {
    await start();
    await fillOrganization(harness);
    expect(await countedIn(harness)).toBeNull();
    await setQuota(harness, { records: 100 });
    await expectExact();
    await harness.store.write(harness.orgNumber, (trx) =>
      trx.updateTable('org_clocks').set({ records: 7 }).where('org_id', '=', harness.orgNumber).execute(),
    );
    await setQuota(harness, { records: 200 });
    await expectExact();
    await setQuota(harness, { bytesInFlight: 5 });
    expect(await countedIn(harness)).toBeNull();
  });

  test('is exact though records are written and deleted while it is counted for the first time', async () => {
    await start();
    let isCounting = true;
    const write = async (name: string) => {
      for (let index = 0; isCounting; index++) {
        const { id } = await client.create('notes', { title: `${name} ${index}` });
        if (index % 3 === 0) await client.del(`/notes/${id}`);
      }
    };
    const writers = ['a', 'b', 'c'].map(write);
    await Bun.sleep(50);
    await setQuota(harness, { records: 1_000_000 });
    await setQuota(harness, { records: 2_000_000 });
    isCounting = false;
    await Promise.all(writers);
    await expectExact();
  });

  test('goes for its own organization alone', async () => {
    await start();
    await setQuota(harness, { records: 1 });
    const other = await client.withKey({ orgNumber: harness.otherOrgNumber });
    expect((await other.post('/contacts', { first_name: 'A' })).status).toBe(201);
    expectRefusal(await client.post('/contacts', { first_name: 'A' }), 'records');
    expect(await countedIn({ ...harness, orgNumber: harness.otherOrgNumber })).toBeNull();
  });
});
