// `wait` of the feed: an empty page is held until there is a change, and never longer than asked.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openStore, type Store } from '../../db/store.ts';
import {
  appOn,
  BASE_URL,
  type Harness,
  type Json,
  type Reply,
  sender,
  startHarness,
} from '../support/harness.ts';
import { HeldPlaces } from '../support/held-places.ts';
import { promptRound } from '../support/rounds.ts';
import { type Client, clientOf, expectFault } from '../support/v2.ts';

let harness: Harness;
let api: Client;
const places = new HeldPlaces();
beforeAll(async () => {
  harness = await startHarness({ orgLimit: 10_000, keyLimit: 10_000, observer: places });
  api = clientOf(harness);
});
afterAll(() => harness.close());

const LONG = 25;

/** A request that is to be held, from the end of the log. */
async function begin(query: string, client: Client, seconds: number) {
  const { page_info } = (await client.get(`/changes?start=now${query}`)).body;
  const since = performance.now();
  const state = { isAnswered: false, ms: 0, reply: Promise.resolve() as Promise<unknown> as Promise<Reply> };
  state.reply = client
    .get(`/changes?cursor=${page_info.end_cursor}&wait=${seconds}${query}`)
    .then((reply) => {
      state.isAnswered = true;
      state.ms = performance.now() - since;
      return reply;
    });
  return state;
}

/** Resolves once all of these, and no others, are held, or answered. */
const areHeld = (waits: readonly { isAnswered: boolean }[]) =>
  places.waiting(() => waits.filter(({ isAnswered }) => !isAnswered).length);

async function held(query = '', client = api, seconds = LONG) {
  const wait = await begin(query, client, seconds);
  await areHeld([wait]);
  return wait;
}

test('is over with the first change, and its cursor goes on behind it', async () => {
  const wait = await held();
  expect(wait.isAnswered).toBeFalse();
  const { id } = await api.create('tasks', { name: 'T' });
  const { data, page_info } = (await wait.reply).body;
  expect(data.map(({ record_id }: Json) => record_id)).toEqual([id]);
  expect(page_info.has_next_page).toBeFalse();
  const next = await api.get(`/changes?cursor=${page_info.end_cursor}&wait=0`);
  expect(next.body.data).toEqual([]);
});

test('does not hold what has something, nor a request that does not ask for it', async () => {
  await api.create('tasks', { name: 'T' });
  await promptRound(5_000, async () => {
    expect((await api.get(`/changes?wait=${LONG}`)).body.data).not.toEqual([]);
    expect((await api.get('/changes?start=now')).body.data).toEqual([]);
    expect((await api.get('/changes?start=now&wait=0')).body.data).toEqual([]);
  });
});

test('ends with an empty page once the time is over', async () => {
  const wait = await held('', api, 1);
  const { status, body } = await wait.reply;
  expect([status, body.data]).toEqual([200, []]);
  expect(body.page_info).toMatchObject({ has_next_page: false, end_cursor: expect.any(String) });
  expect(wait.ms).toBeGreaterThan(990);
});

test('goes on after changes that the filters hide, from where it has read', async () => {
  const wait = await held('&resource=deals&action=updated');
  const deal = await api.create('deals', { name: 'D' });
  await api.create('tasks', { name: 'T' });
  await Bun.sleep(200);
  expect(wait.isAnswered).toBeFalse();
  await api.update('deals', deal.id, { name: 'E' });
  const { data } = (await wait.reply).body;
  expect(data).toMatchObject([{ action: 'updated', record_id: deal.id }]);
});

test('of a user-bound key ends with what its user can see, and with nothing else', async () => {
  const { alice, bob } = harness;
  const client = clientOf(harness, (await harness.issue({ userId: alice })).key);
  const wait = await held('', client);
  const { id } = await api.create('deals', { name: 'D', owner_id: bob });
  await Bun.sleep(200);
  expect(wait.isAnswered).toBeFalse();
  await api.update('deals', id, { owner_id: alice });
  expect((await wait.reply).body.data).toMatchObject([{ action: 'created', record_id: id }]);
});

test('of another organization is none of its business', async () => {
  const other = clientOf(harness, (await harness.issue({ orgNumber: harness.otherOrgNumber })).key);
  const wait = await held('', other, 1);
  await api.create('tasks', { name: 'T' });
  expect((await wait.reply).body.data).toEqual([]);
});

test('is over within a second of a change by another process', async () => {
  const store: Store = await openStore(harness.dbPath);
  const app = await appOn(store, harness.clock);
  const elsewhere = sender((request) => app.handle(request), { v1: harness.v1, v2: harness.v2 });
  const follow = async () => {
    const wait = await held();
    const { body } = await elsewhere('POST', '/api/v2/tasks', { body: { name: 'T' } });
    expect((await wait.reply).body.data).toMatchObject([{ record_id: body.data.id }]);
  };
  for (let count = 0; count < 3; count++) await promptRound(5_000, follow);
  await store.close();
});

test.each([
  ['wait=26', 'wait', 'VALIDATION_OUT_OF_RANGE'],
  ['wait=-1', 'wait', 'VALIDATION_OUT_OF_RANGE'],
  ['wait=1.5', 'wait', 'VALIDATION_FAILED'],
  ['wait=1&sort_direction=desc', 'wait', 'VALIDATION_FAILED'],
])('is refused for %s', async (query, path, code) => {
  expectFault(await api.get(`/changes?${query}`), code, path);
});

test('is not held for HEAD', async () => {
  const head = () => harness.send('HEAD', `/api/v2/changes?start=now&wait=${LONG}`);
  expect((await promptRound(5_000, head)).status).toBe(200);
});

test('does not take part in a repeated or altered cursor', async () => {
  expectFault(await api.get(`/changes?cursor=abc&wait=${LONG}`), 'VALIDATION_INVALID_FORMAT', 'cursor');
});

test('has 20 places for a key and 50 for an organization, with streams, each given back', async () => {
  const keys = await Promise.all([1, 2, 3].map(async () => (await harness.issue()).key));
  const [first = '', second = '', third = ''] = keys;
  const [ofFirst, ofThird] = [clientOf(harness, first), clientOf(harness, third)];
  // Unlike waits, they hold their places for as long as the others take to begin.
  const stream = (key: string) => {
    const headers = { Authorization: `Bearer ${key}` };
    return harness.handle(new Request(`${BASE_URL}/api/v2/changes/stream?start=now`, { headers }));
  };
  const many = (client: Client, count: number, seconds = LONG) =>
    Promise.all(Array.from({ length: count }, () => begin('', client, seconds)));
  const remaining = async (client: Client) =>
    Number((await client.get('/changes')).headers.get('X-RateLimit-Remaining'));
  const streams = await Promise.all(Array.from({ length: 20 }, () => stream(first)));
  const before = await remaining(ofFirst);
  const refused = await ofFirst.get(`/changes?start=now&wait=${LONG}`);
  expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
  expect(refused.body.error.message).toContain('key can have 20');
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
  // Nothing was counted, and other requests of the key go on.
  expect(await remaining(ofFirst)).toBe(before - 1);
  streams.push(...(await Promise.all(Array.from({ length: 20 }, () => stream(second)))));
  expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200));
  const waits = await many(ofThird, 10);
  await areHeld(waits);
  const alsoRefused = await ofThird.get(`/changes?start=now&wait=${LONG}`);
  expect(alsoRefused.status).toBe(429);
  expect(alsoRefused.body.error.message).toContain('organization can have 50');
  const other = clientOf(harness, (await harness.issue({ orgNumber: harness.otherOrgNumber })).key);
  expect((await other.get('/changes?start=now&wait=1')).status).toBe(200);
  expect(waits.filter(({ isAnswered }) => isAnswered)).toEqual([]);
  const { id } = await api.create('tasks', { name: 'T' });
  for (const wait of waits) expect((await wait.reply).body.data).toMatchObject([{ record_id: id }]);
  await Promise.all(streams.map(({ body }) => body?.cancel()));
  for (const client of [ofFirst, ofThird])
    for (const wait of await many(client, 20, 1)) expect((await wait.reply).status).toBe(200);
}, 300_000);

test('gives its place back when its client is gone, or it must answer', async () => {
  const { key } = await harness.issue();
  const leaving = new AbortController();
  const ask = (signal: AbortSignal) =>
    harness.handle(
      new Request(`${BASE_URL}/api/v2/changes?start=now&wait=${LONG}`, {
        headers: { Authorization: `Bearer ${key}` },
        signal,
      }),
    );
  const gone = Array.from({ length: 20 }, () => ask(leaving.signal));
  await places.waiting(() => 20);
  expect((await ask(new AbortController().signal)).status).toBe(429);
  leaving.abort();
  await Promise.all(gone);
  const client = clientOf(harness, key);
  expect((await client.get('/changes?start=now&wait=1')).status).toBe(200);
});
