// The feed as a stream: each change once and in order, from any place on, for as long as the key may see it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { revokeKey, rotateKey } from '../../db/accounts/keys.ts';
import { setChangesDays } from '../../db/removal/change-retention.ts';
import { openStore } from '../../db/store.ts';
import { beginChangesEpoch } from '../../db/tables/settings.ts';
import { EventReader, type StreamEvent } from '../support/event-stream.ts';
import { appOn, BASE_URL, type Harness, type Json, sender, startHarness } from '../support/harness.ts';
import { HeldPlaces } from '../support/held-places.ts';
import { promptRound } from '../support/rounds.ts';
import { type Client, clientOf, expectFault } from '../support/v2.ts';

const LOOK_EVERY_MS = 300;

let harness: Harness;
let api: Client;
const places = new HeldPlaces();
const released = { current: new AbortController() };
beforeAll(async () => {
  harness = await startHarness({
    ...{ orgLimit: 10_000, keyLimit: 10_000, lookEveryMs: LOOK_EVERY_MS },
    releaseOf: () => released.current.signal,
    observer: places,
  });
  api = clientOf(harness);
});
afterAll(() => harness.close());

interface Opening {
  key?: string;
  lastEventId?: string;
  address?: string;
  signal?: AbortSignal;
}

function request(query: string, { key = harness.v2, lastEventId, address, signal }: Opening = {}) {
  const headers: Record<string, string> = { Authorization: `Bearer ${key}` };
  if (lastEventId !== undefined) headers['Last-Event-ID'] = lastEventId;
  if (address !== undefined) headers['X-Test-Address'] = address;
  const url = `${BASE_URL}/api/v2/changes/stream${query === '' ? '' : `?${query}`}`;
  return harness.handle(new Request(url, { headers, ...(signal && { signal }) }));
}

const open = async (query = 'start=now', opening: Opening = {}) =>
  new EventReader(await request(query, opening));

const task = async (name: string, client = api) => (await client.create('tasks', { name })).id as string;
const ids = (events: { data: Json }[]) => events.map(({ data }) => data.record_id);
// The IDs of equal events differ: each is encrypted with a nonce of its own, unless streams share a page.
const withoutId = ({ event, data }: StreamEvent) => ({ event, data });

describe('a stream', () => {
  test('has headers that keep proxies from holding it back', async () => {
    const response = await request('start=now');
    expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'text/event-stream']);
    expect(response.headers.get('Cache-Control')).toBe('no-store, no-transform');
    expect(response.headers.get('X-Accel-Buffering')).toBe('no');
    expect(response.headers.get('X-Request-Id')).toStartWith('req_');
    expect(response.headers.get('X-RateLimit-Remaining')).toMatch(/^\d+$/);
    await response.body?.cancel();
  });

  test('sends each change as the list has it, with the cursor behind it', async () => {
    const before = (await api.get('/changes?start=now')).body.page_info.end_cursor;
    const stream = await open();
    const made = [await task('A'), await task('B')];
    const events = await stream.take(2);
    expect(events.map(({ event }) => event)).toEqual(['change', 'change']);
    expect(stream.retry).toBe(1_000);
    const listed = (await api.get(`/changes?cursor=${before}`)).body;
    expect(events.map(({ data }) => data)).toEqual(listed.data);
    expect(ids(events)).toEqual(made);
    const rest = (await api.get(`/changes?cursor=${events[0]?.id}`)).body;
    expect(rest.data).toEqual(listed.data.slice(1));
    await stream.close();
  });

  test('begins with the oldest change unless told otherwise, and with a cursor of the list', async () => {
    const all: Json[] = [];
    for (let cursor = ''; ; ) {
      const { data, page_info } = (await api.get(`/changes?limit=200${cursor}`)).body;
      all.push(...data);
      if (!page_info.has_next_page) break;
      cursor = `&cursor=${page_info.end_cursor}`;
    }
    const stream = await open('');
    expect(ids(await stream.take(all.length))).toEqual(all.map(({ record_id }) => record_id));
    await stream.close();
    const { end_cursor } = (await api.get('/changes?limit=1')).body.page_info;
    const later = await open('', { lastEventId: end_cursor });
    expect(ids(await later.take(1))).toEqual([all[1]?.record_id]);
    await later.close();
  });

  test('continues behind the last event, whatever start says', async () => {
    const first = await open();
    const made: string[] = [];
    for (const name of ['A', 'B', 'C']) made.push(await task(name));
    const [event] = await first.take(1);
    await first.close();
    const second = await open('start=oldest', { lastEventId: event?.id ?? '' });
    expect(ids(await second.take(2))).toEqual(made.slice(1));
    await second.close();
  });

  test('leaves out what the filters hide', async () => {
    const stream = await open('start=now&resource=deals&action=updated');
    const deal = await api.create('deals', { name: 'D' });
    await task('T');
    await api.update('deals', deal.id, { name: 'E' });
    expect(await stream.take(1)).toMatchObject([{ data: { action: 'updated', record_id: deal.id } }]);
    await stream.close();
  });

  test('of a user-bound key has what its user could see', async () => {
    const { alice, bob } = harness;
    const stream = await open('start=now', { key: (await harness.issue({ userId: alice })).key });
    const { id } = await api.create('deals', { name: 'Hidden', owner_id: bob });
    await api.update('deals', id, { owner_id: alice });
    await api.update('deals', id, { owner_id: null });
    const seen = await stream.take(2);
    expect(seen.map(({ data }) => [data.action, data.sequence])).toEqual([
      ['created', null],
      ['deleted', null],
    ]);
    await stream.close();
  });

  test('shows the same as others of its kind beside it, and nothing that its own key could not see', async () => {
    const { alice, bob } = harness;
    const keyOf = async (options: Parameters<typeof harness.issue>[0]) => (await harness.issue(options)).key;
    const ofAlice = { key: await keyOf({ userId: alice }) };
    const ofBob = { key: await keyOf({ userId: bob }) };
    const ofTasks = { key: await keyOf({ scopes: ['tasks:read'] }) };
    const openings: [query: string, opening: Opening][] = [
      ['start=now', {}],
      ['start=now', { key: await keyOf({}) }],
      ['start=now&resource=deals', {}],
      ['start=now', ofAlice],
      ['start=now', ofBob],
      ['start=now', ofTasks],
    ];
    const streams = await Promise.all(openings.map(([query, opening]) => open(query, opening)));
    for (let round = 0; round < 5; round++) {
      const a = (await api.create('deals', { name: 'A', owner_id: alice })).id;
      const b = (await api.create('deals', { name: 'B', owner_id: bob })).id;
      const t = await task('T');
      const wanted = [[a, b, t], [a, b, t], [a, b], [a], [b], [t]];
      const seen = await Promise.all(streams.map((stream, index) => stream.take(wanted[index]?.length ?? 0)));
      expect(seen.map(ids)).toEqual(wanted);
      expect(seen[1]?.map(withoutId)).toEqual(seen[0]?.map(withoutId));
      for (const { data } of [...(seen[3] ?? []), ...(seen[4] ?? [])]) expect(data.sequence).toBeNull();
    }
    await Promise.all(streams.map((stream) => stream.close()));
  });

  test('has changes of another process within a second', async () => {
    const store = await openStore(harness.dbPath);
    const app = await appOn(store, harness.clock);
    const elsewhere = sender((one) => app.handle(one), { v1: harness.v1, v2: harness.v2 });
    const stream = await open();
    const follow = async () => {
      const { body } = await elsewhere('POST', '/api/v2/tasks', { body: { name: 'T' } });
      expect(ids(await stream.take(1))).toEqual([body.data.id]);
    };
    for (let count = 0; count < 3; count++) await promptRound(3_000, follow);
    await stream.close();
    await store.close();
  });

  test('loses nothing and repeats nothing under many writes, to many readers', async () => {
    const streams = await Promise.all(Array.from({ length: 15 }, () => open()));
    const made: string[] = [];
    const write = async () => {
      for (let round = 0; round < 20; round++) {
        const items = Array.from({ length: 15 }, (_, index) => ({ name: `T${index}` }));
        const { data } = (await api.post('/tasks/batch', items)).body;
        made.push(...data.items.map((item: Json) => item.data.id));
      }
    };
    const reading = Promise.all(streams.map((stream) => stream.take(600)));
    await Promise.all([write(), write()]);
    const { page_info } = (await api.get('/changes?start=now')).body;
    for (const events of await reading) {
      expect(new Set(ids(events))).toEqual(new Set(made));
      const sequences = events.map(({ data }) => data.sequence);
      expect(sequences).toEqual(sequences.map((_, index) => page_info.head - 599 + index));
    }
    await Promise.all(streams.map((stream) => stream.close()));
  }, 300_000);

  test('has a comment now and then, with an ID that moves on', async () => {
    const stream = await open('start=now&resource=deals');
    const event = stream.next();
    while (stream.lastEventId === '') await Bun.sleep(10);
    await task('Hidden by the filter');
    const before = stream.lastEventId;
    while (stream.lastEventId === before) await Bun.sleep(10);
    const comments = stream.comments;
    expect(comments).toBeGreaterThan(1);
    const page = (await api.get(`/changes?cursor=${stream.lastEventId}&resource=deals`)).body;
    expect(page.data).toEqual([]);
    await api.create('deals', { name: 'D' });
    expect((await event)?.data.resource).toBe('deals');
    await stream.close();
  });
});

describe('a stream is refused', () => {
  test.each([
    ['start=yesterday', 'start', 'VALIDATION_INVALID_FORMAT'],
    ['resource=users', 'resource', 'VALIDATION_FAILED'],
    ['record_id=a', 'record_id', 'VALIDATION_FAILED'],
    ['cursor=a', 'cursor', 'VALIDATION_FAILED'],
    ['limit=1', 'limit', 'VALIDATION_FAILED'],
    ['wait=1', 'wait', 'VALIDATION_FAILED'],
    ['sort_direction=asc', 'sort_direction', 'VALIDATION_FAILED'],
  ])('for %s', async (query, path, code) => {
    expectFault(await api.get(`/changes/stream?${query}`), code, path);
  });

  test('for an altered Last-Event-ID, and one of other filters', async () => {
    const { end_cursor } = (await api.get('/changes?resource=deals')).body.page_info;
    for (const id of ['abc', end_cursor]) {
      const headers = { 'Last-Event-ID': id };
      const reply = await harness.send('GET', '/api/v2/changes/stream', { headers });
      expectFault(reply, 'VALIDATION_INVALID_FORMAT', 'Last-Event-ID');
    }
  });

  test('to keys that may not read what it has', async () => {
    const { key } = await harness.issue({ scopes: ['deals:read'] });
    const client = clientOf(harness, key);
    expect((await client.get('/changes/stream?resource=tasks')).status).toBe(403);
    expect((await client.get('/changes/stream')).status).toBe(200);
    const none = clientOf(harness, (await harness.issue({ scopes: ['tasks:write'] })).key);
    expect((await none.get('/changes/stream')).status).toBe(403);
  });

  test('beyond 20 for a key, together with waits; HEAD and what has ended hold no place', async () => {
    const { key } = await harness.issue();
    const client = clientOf(harness, key);
    const streams = await Promise.all(Array.from({ length: 19 }, () => open('start=now', { key })));
    const wait = client.get('/changes?start=now&wait=25');
    await places.waiting(() => 1);
    const remaining = async () =>
      Number((await client.get('/authenticate')).headers.get('X-RateLimit-Remaining'));
    const before = await remaining();
    const refused = await client.get('/changes/stream?start=now');
    expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(await remaining()).toBe(before - 1);
    const head = await harness.send('HEAD', '/api/v2/changes/stream?start=now', { key });
    expect([head.status, head.headers.get('Content-Type')]).toEqual([200, 'text/event-stream']);
    await streams[0]?.close();
    const leaving = new AbortController();
    await request('start=now', { key, signal: leaving.signal });
    expect((await client.get('/changes/stream?start=now')).status).toBe(429);
    leaving.abort();
    const again = await open('start=now', { key });
    await task('T');
    expect((await wait).status).toBe(200);
    await Promise.all([...streams, again].map((stream) => stream.close()));
  });
});

describe('a stream ends with an error', () => {
  const ends: [string, string, (id: string) => Promise<unknown>][] = [
    [
      'once its key is revoked',
      'AUTH_INVALID_API_KEY',
      (id) =>
        harness.store.write('accounts', (trx) =>
          revokeKey(trx, { org_id: harness.orgNumber, id } as never, harness.clock.now),
        ),
    ],
    [
      'once its secret was replaced',
      'AUTH_INVALID_API_KEY',
      (id) =>
        harness.store.write('accounts', async (trx) => {
          const row = await trx.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst();
          if (row !== undefined) await rotateKey(trx, row, 0, harness.clock.now);
        }),
    ],
    [
      'once its key has other scopes',
      'AUTH_INSUFFICIENT_SCOPE',
      (id) =>
        harness.store.write('accounts', (trx) =>
          trx.updateTable('api_keys').set({ scopes: 'tasks:read' }).where('id', '=', id).execute(),
        ),
    ],
    [
      'once its key must not be used from there',
      'OPERATION_FORBIDDEN',
      (id) =>
        harness.store.write('accounts', (trx) =>
          trx.updateTable('api_keys').set({ networks: '192.0.2.0/24' }).where('id', '=', id).execute(),
        ),
    ],
  ];
  test.each(ends)('%s', async (_, code, change) => {
    const { key, id } = await harness.issue();
    const stream = await open('start=now', { key, address: '198.51.100.7' });
    await task('Before');
    expect(await stream.take(1)).toHaveLength(1);
    await change(id);
    const events = await stream.all();
    const last = events.at(-1);
    expect([last?.event, last?.data.object, last?.data.error.code]).toEqual(['error', 'error', code]);
    expect(last?.data.meta.request_id).toStartWith('req_');
    expect(stream.rest).toBe('');
  });

  test('once its key has expired', async () => {
    const { key } = await harness.issue({ expiresAt: harness.clock.now + 60_000 });
    const stream = await open('start=now', { key });
    harness.clock.now += 60_001;
    expect((await stream.all()).at(-1)?.data.error.code).toBe('AUTH_EXPIRED_API_KEY');
  });

  test('where its place is not kept any more, at once or on its way', async () => {
    const own = await startHarness({ lookEveryMs: LOOK_EVERY_MS });
    const client = clientOf(own);
    const openOwn = async (lastEventId: string) =>
      new EventReader(
        await own.handle(
          new Request(`${BASE_URL}/api/v2/changes/stream`, {
            headers: { Authorization: `Bearer ${own.v2}`, 'Last-Event-ID': lastEventId },
          }),
        ),
      );
    const { end_cursor } = (await client.get('/changes?start=now')).body.page_info;
    const running = await openOwn(end_cursor);
    await client.create('tasks', { name: 'T' });
    const [event] = await running.take(1);
    await own.store.write('accounts', beginChangesEpoch);
    await client.create('tasks', { name: 'T' });
    const old = await openOwn(event?.id ?? '');
    for (const stream of [running, old]) {
      const [{ event: name, data } = { event: '', data: null }] = await stream.all();
      expect(name).toBe('error');
      expect(data.error.code).toBe('VALIDATION_OUT_OF_RANGE');
      expect(data.error.details).toMatchObject([{ path: 'Last-Event-ID' }]);
    }
    const { end_cursor: current } = (await client.get('/changes?start=now')).body.page_info;
    const unkept = await openOwn(current);
    await own.store.write('accounts', (trx) => setChangesDays(trx, 0));
    await client.create('tasks', { name: 'T' });
    expect((await unkept.all()).at(-1)?.data.error.code).toBe('RESOURCE_NOT_FOUND');
    await own.close();
  });
});

test('a stream that is released ends after a whole event, without an error', async () => {
  const waiting = await open();
  // Whose client has not read anything yet.
  const unread = await open('');
  await task('Before');
  expect(await waiting.take(1)).toHaveLength(1);
  const rest = waiting.all();
  released.current.abort();
  expect(await rest).toEqual([]);
  expect(await unread.all()).toEqual([]);
  expect([waiting.rest, unread.rest]).toEqual(['', '']);
  // One that comes then ends at once, and none of them holds a place.
  for (let count = 0; count < 21; count++) expect(await (await open()).all()).toEqual([]);
  released.current = new AbortController();
});

test('a client that does not read has little kept for it, and gets everything later', async () => {
  const { key } = await harness.issue();
  const content = 'x'.repeat(40_000);
  const stream = await request('start=now&resource=notes', { key });
  const made: string[] = [];
  for (let round = 0; round < 6; round++) {
    const notes = Array.from({ length: 20 }, (_, index) => ({ title: `N${round}-${index}`, content }));
    const { data } = (await api.post('/notes/batch', notes)).body;
    made.push(...data.items.map((item: Json) => item.data.id));
  }
  const reader = new EventReader(stream);
  const [first] = await reader.take(1);
  expect(first?.data.record_id).toBe(made[0]);
  expect(ids(await reader.take(made.length - 1))).toEqual(made.slice(1));
  await reader.close();
});
