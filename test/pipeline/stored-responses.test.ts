// What stored answers take: compressed, counted exactly whatever becomes of them, and held to a budget.
import { afterEach, describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { listQuotas } from '../../db/accounts/quotas.ts';
import { deleteResponses, purgeStoredResponses } from '../../db/tables/idempotency.ts';
import { readStoredText } from '../../db/tables/stored-response-text.ts';
import {
  type Harness,
  type HarnessOptions,
  type Json,
  type Reply,
  startHarness,
} from '../support/harness.ts';
import { type Keyed, keyedOf, unique } from '../support/keyed-requests.ts';
import { setQuota } from '../support/quota.ts';

const HOUR_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * HOUR_MS;

let harness: Harness;
let keyed: Keyed['keyed'];
afterEach(() => harness.close());

async function start(options: HarnessOptions = {}): Promise<void> {
  harness = await startHarness(options);
  ({ keyed } = keyedOf(harness));
}

const create = async (resource: string, body: Json): Promise<string> =>
  (await harness.send('POST', `/api/v2/${resource}`, { body })).body.data.id;

const random = (bytes: number) => crypto.getRandomValues(Buffer.alloc(bytes)).toString('base64');
const customOf = (textOf: () => string) =>
  Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`field ${index}`, textOf()]));
/** Of 400 KB, some of which cannot be compressed. */
const largeContact = (textOf = () => 'überaus lang '.repeat(75)) =>
  create('contacts', { first_name: 'A', custom: customOf(textOf) });

/** What is counted of the organization's answers. */
async function countedNow(orgNumber = harness.orgNumber): Promise<number> {
  return (
    (await listQuotas(harness.store.read, orgNumber, harness.clock.now)).get(orgNumber)?.replayBytes ?? -1
  );
}

/** What the rows say that they take, and what their texts do. */
async function stored(): Promise<{ count: number; bytes: number; inRows: number; asSent: number }> {
  const { rows } = await sql<{ count: number; bytes: number; in_rows: number; as_sent: number }>`
    select count(*) as count, coalesce(sum(stored_bytes), 0) as bytes, coalesce(sum(body_bytes), 0) as as_sent,
      coalesce(sum(octet_length(body) + coalesce(octet_length(packed), 0)), 0) as in_rows
    from idempotency_keys where org_id = ${harness.orgNumber}`.execute(harness.store.read);
  const { count = 0, bytes = 0, in_rows = 0, as_sent = 0 } = rows[0] ?? {};
  return { count: Number(count), bytes: Number(bytes), inRows: Number(in_rows), asSent: Number(as_sent) };
}

async function expectExact(): Promise<void> {
  expect(await countedNow()).toBe((await stored()).bytes);
}

describe('are stored', () => {
  test('in a tenth of their size, or less, where they can be compressed', async () => {
    await start();
    const id = await largeContact();
    for (let count = 0; count < 100; count++) await keyed('PATCH', `/contacts/${id}`, unique(), { body: {} });
    const { count, bytes, inRows, asSent } = await stored();
    expect(count).toBe(100);
    expect(asSent).toBeGreaterThan(9_000_000);
    expect(inRows).toBeLessThan(asSent / 10);
    expect(bytes).toBeLessThan(asSent / 10);
    expect(bytes).toBeGreaterThan(inRows);
    await expectExact();
  });

  test('as they are where they are short, or cannot be compressed', async () => {
    await start();
    const id = await largeContact(() => random(660));
    const ids = [id, await create('contacts', { first_name: 'Short' })];
    for (const contact of ids) await keyed('PATCH', `/contacts/${contact}`, contact, { body: {} });
    const rows = await harness.store.read
      .selectFrom('idempotency_keys')
      .select(['key', 'body', 'packed', 'stored_bytes'])
      .execute();
    // Base64 has six bits in eight.
    for (const row of rows) expect(JSON.parse(readStoredText(row)).data.id).toBe(row.key);
    const [large, short] = ids.map((key) => rows.find((row) => row.key === key));
    expect([large?.packed === null, short?.packed]).toEqual([false, null]);
    expect(large?.packed?.length).toBeGreaterThan(60_000);
  });

  test('and given again to the byte, whatever their form', async () => {
    await start();
    for (const id of [
      await largeContact(),
      await largeContact(() => random(660)),
      await largeContact(() => '🙂'.repeat(50)),
      await create('contacts', { first_name: 'Ünïcödé' }),
    ]) {
      const key = unique();
      const first = await keyed('PATCH', `/contacts/${id}`, key, { body: {} });
      const again = await keyed('PATCH', `/contacts/${id}`, key, { body: {} });
      expect(again.headers.get('Idempotent-Replayed')).toBe('true');
      expect(again.text === first.text).toBe(true);
    }
  });

  test('for a batch that only reads if it has a key, and within the budget', async () => {
    await start();
    const id = await create('notes', { title: 'Long', content: 'überaus lang '.repeat(3_800) });
    const body = Array(100).fill(id);
    const path = '/notes/batch/get';
    expect((await harness.send('POST', `/api/v2${path}`, { body })).status).toBe(200);
    expect((await stored()).count).toBe(0);
    const key = unique();
    const first = await keyed('POST', path, key, { body });
    expect(first.text.length).toBeGreaterThan(4_900_000);
    const { bytes, asSent } = await stored();
    expect([asSent > 4_900_000, bytes < asSent / 10]).toEqual([true, true]);
    await expectExact();
    await harness.send('DELETE', `/api/v2/notes/${id}`);
    expect((await keyed('POST', path, key, { body })).text === first.text).toBe(true);
    await setQuota(harness, { replayBytes: bytes });
    expect((await keyed('POST', path, unique(), { body })).status).toBe(429);
    expect((await harness.send('POST', `/api/v2${path}`, { body })).status).toBe(200);
    expect((await stored()).count).toBe(1);
  });

  test('in little for a batch of duplicates', async () => {
    await start();
    const item = {
      ...{ type: 'EMAIL', direction: 'INBOUND', title: 'T', primary_id: 'one' },
      ...{ main_contact_email: 'a@b.test', summary: '🙂'.repeat(10_000) },
    };
    await create('interactions', item);
    const { summary: _, ...again } = item;
    const { body } = await keyed('POST', '/interactions/batch', unique(), { body: Array(100).fill(again) });
    expect(body.data.summary).toEqual({ total: 100, succeeded: 100, failed: 0 });
    const { bytes, asSent } = await stored();
    expect(asSent).toBeLessThan(20_000);
    expect(bytes).toBeLessThan(2_000);
  });
});

describe('are counted', () => {
  test('each once, at once as well as one by one, and not where nothing is stored', async () => {
    await start();
    const body = (index: number) => (index % 5 === 0 ? { email: 'no address' } : { first_name: `A${index}` });
    await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        keyed('POST', '/contacts', `k${index % 50}`, { body: body(index % 50) }),
      ),
    );
    expect((await stored()).count).toBe(40);
    await expectExact();
    await keyed('PATCH', '/contacts/absent', unique(), { body: {} });
    await create('contacts', { email: 'taken@b.test' });
    await keyed('POST', '/contacts', unique(), { body: { email: 'taken@b.test' } });
    expect((await stored()).count).toBe(42);
    await expectExact();
    expect(await countedNow(harness.otherOrgNumber)).toBe(0);
  });

  test('until they are deleted: as they expire, and when they are to be forgotten', async () => {
    await start();
    const { clock, store, orgNumber } = harness;
    const principal = async () =>
      (await store.read.selectFrom('idempotency_keys').select('principal').executeTakeFirstOrThrow())
        .principal;
    for (let hour = 0; hour < 20; hour++) {
      await keyed('POST', '/contacts', `h${hour}`, { body: { first_name: 'A' } });
      clock.now += HOUR_MS;
    }
    const all = await countedNow();
    const one = { principal: await principal(), key: 'h3' };
    await store.write(orgNumber, (trx) => deleteResponses(trx, orgNumber, [one], clock.now));
    await expectExact();
    expect(await countedNow()).toBeLessThan(all);
    // By now the first ten have expired, and nobody has deleted them.
    clock.now += 13.5 * HOUR_MS;
    expect(await countedNow()).toBeLessThan((await stored()).bytes);
    await purgeStoredResponses(store, clock.now);
    expect((await stored()).count).toBe(10);
    await expectExact();
    // One that takes the place of one that has expired.
    clock.now += 2 * HOUR_MS;
    await keyed('POST', '/contacts', 'h11', { body: { first_name: 'B' } });
    await purgeStoredResponses(store, clock.now);
    await expectExact();
    clock.now += DAY_MS + HOUR_MS;
    await purgeStoredResponses(store, clock.now);
    expect([await stored(), await countedNow()]).toMatchObject([{ count: 0 }, 0]);
  });
});

describe('a budget', () => {
  const refusal = (reply: Reply) => [reply.status, reply.body.error?.code];
  const REFUSED = [429, 'RATE_LIMIT_EXCEEDED'];
  const usedIn = async () => {
    const { headers } = await harness.send('GET', '/api/v2/contacts?limit=1');
    return Number(headers.get('X-RateLimit-Limit')) - Number(headers.get('X-RateLimit-Remaining'));
  };

  test('refuses new keys once it is used up, counts them nowhere and does nothing of what they ask', async () => {
    await start({ now: Math.ceil(Date.now() / HOUR_MS) * HOUR_MS });
    await setQuota(harness, { replayBytes: 5_000 });
    const done: string[] = [];
    for (let index = 0; ; index++) {
      const reply = await keyed('POST', '/contacts', `k${index}`, { body: { first_name: `A${index}` } });
      if (reply.status !== 201) break;
      done.push(reply.text);
    }
    expect(done.length).toBeGreaterThan(2);
    // The last of them is the one that passed it.
    expect(await countedNow()).toBeGreaterThanOrEqual(5_000);
    expect((await countedNow()) - 5_000).toBeLessThan(2_000);
    const used = await usedIn();
    const refused = await keyed('POST', '/contacts', 'new', { body: { first_name: 'New' } });
    expect(refusal(refused)).toEqual(REFUSED);
    expect(refused.body.error.message).toContain('5000 bytes');
    expect(refused.headers.get('Retry-After')).toBe('3600');
    expect(refused.headers.get('X-RateLimit-Remaining')).not.toBeNull();
    expect(await usedIn()).toBe(used + 1);
    const { body } = await harness.send('GET', '/api/v2/contacts?limit=200');
    expect(body.data).toHaveLength(done.length);
    // What is stored is given again, and what carries no key, or is another organization's, is done.
    const replayed = await keyed('POST', '/contacts', 'k1', { body: { first_name: 'A1' } });
    expect([replayed.status, replayed.text]).toEqual([201, done[1] ?? '']);
    expect((await harness.send('POST', '/api/v2/contacts', { body: { first_name: 'C' } })).status).toBe(201);
    const { key } = await harness.issue({ orgNumber: harness.otherOrgNumber });
    const headers = { 'Idempotency-Key': 'new' };
    const other = await harness.send('POST', '/api/v2/contacts', { key, headers, body: { first_name: 'O' } });
    expect(other.status).toBe(201);
  });

  test('has room again when enough has expired, as was said, or when it is raised', async () => {
    await start({ now: Math.ceil(Date.now() / HOUR_MS) * HOUR_MS });
    const { clock } = harness;
    await setQuota(harness, { replayBytes: 1_500 });
    const ask = (key: string) => keyed('POST', '/contacts', key, { body: { first_name: 'A' } });
    expect((await ask('a')).status).toBe(201);
    clock.now += HOUR_MS;
    expect((await ask('b')).status).toBe(201);
    expect(refusal(await ask('c'))).toEqual(REFUSED);
    await setQuota(harness, { replayBytes: 3_000 });
    expect((await ask('c')).status).toBe(201);
    await setQuota(harness, { replayBytes: 1_500 });
    clock.now += 23 * HOUR_MS + 50 * 60_000;
    // Nobody has deleted anything, and an hour that is over counts no more.
    const refused = await ask('d');
    expect(refusal(refused)).toEqual(REFUSED);
    clock.now += Number(refused.headers.get('Retry-After')) * 1_000;
    expect(refusal(await ask('d'))).toEqual(REFUSED);
    clock.now += HOUR_MS;
    expect((await ask('d')).status).toBe(201);
  });

  test('is passed by one answer at most, however many come at once', async () => {
    await start();
    const id = await largeContact(() => random(660));
    const size = (await keyed('PATCH', `/contacts/${id}`, unique(), { body: {} })).text.length;
    await setQuota(harness, { replayBytes: 4 * size });
    const replies = await Promise.all(
      Array.from({ length: 60 }, () => keyed('PATCH', `/contacts/${id}`, unique(), { body: {} })),
    );
    const done = replies.filter(({ status }) => status === 200).length;
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(60 - done);
    await expectExact();
    const { bytes, count } = await stored();
    expect(count).toBe(done + 1);
    expect(bytes - bytes / count).toBeLessThan(4 * size);
  });

  test('of nothing lets no key in', async () => {
    await start();
    await setQuota(harness, { replayBytes: 0 });
    const reply = await keyed('POST', '/contacts', 'k', { body: { first_name: 'A' } });
    expect([...refusal(reply), reply.headers.get('Retry-After')]).toEqual([...REFUSED, '3600']);
  });
});
