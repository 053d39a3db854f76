// Instants that the service sets: they follow the order of the commits, so that a client that walks them misses nothing.
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { takeInstant } from '../../db/engine/write-instant.ts';
import { ingestMeetings } from '../../db/ingest/meetings.ts';
import { instantText } from '../../db/model/instants.ts';
import { Sandbox } from '../support/command.ts';
import { BASE_URL, type Harness, type Json, startHarness } from '../support/harness.ts';
import { type Client, clientOf } from '../support/v2.ts';

const sandbox = new Sandbox();
afterAll(() => sandbox[Symbol.asyncDispose]());

const HOUR_MS = 3_600_000;
const ROUNDS_MAX = 10;

let harness: Harness;
let api: Client;
beforeEach(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterEach(() => harness.close());

test('their text is that of toISOString, whichever came before', () => {
  const around = [
    0, -1, 1, 999, 1_000, -1_000, -62_167_219_200_000, 253_402_300_799_999, 253_402_300_800_000,
  ];
  const random = Array.from({ length: 2_000 }, () => Math.trunc((Math.random() - 0.3) * 4e14));
  for (const ms of [...around, ...random, ...random.map((one) => one + 1)]) {
    expect(instantText(ms)).toBe(new Date(ms).toISOString());
  }
  expect(() => instantText(Number.NaN)).toThrow(RangeError);
  expect(() => instantText(9e15)).toThrow(RangeError);
});

const meeting = (name: string) => ({
  uid: name,
  entries: [{ line: 1, sequence: null, data: { external_id: name, title: name } }],
  spared: [],
  extent: null,
});
const meetings = (count: number, round = 0) =>
  Array.from({ length: count }, (_, index) => meeting(`m${round}-${index}`));

/** A client that keeps up: it asks for what came since the last record that it has seen, of all resources. */
function follower() {
  let since = 0;
  const seen = new Set<string>();
  return {
    seen,
    async catchUp(): Promise<void> {
      let latest = since;
      for (const path of ['/meetings', '/contacts']) {
        for (let cursor = ''; ; ) {
          const query = `created_since=${since}&sort_direction=asc&limit=200${cursor}`;
          const { data, page_info } = (await api.get(`${path}?${query}`)).body;
          for (const { id, created_at } of data) {
            seen.add(id);
            latest = Math.max(latest, Date.parse(created_at));
          }
          if (!page_info.has_next_page) break;
          cursor = `&cursor=${page_info.end_cursor}`;
        }
      }
      since = latest;
    },
  };
}

test('a change whose body came slowly, answered last, is the later one', async () => {
  const [slow, quick] = [await api.create('contacts'), await api.create('contacts')];
  const quickIsWritten = Promise.withResolvers<void>();
  const body = new ReadableStream({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode('{"title":'));
      await quickIsWritten.promise;
      controller.enqueue(new TextEncoder().encode('"Slow"}'));
      controller.close();
    },
  });
  const headers = { Authorization: `Bearer ${harness.v2}`, 'Content-Type': 'application/json' };
  const answer = harness.handle(
    new Request(`${BASE_URL}/api/v2/contacts/${slow.id}`, { method: 'PATCH', headers, body }),
  );
  await Bun.sleep(10);
  const before = await api.update('contacts', quick.id, { title: 'Quick' });
  quickIsWritten.resolve();
  const after: Json = await (await answer).json();
  expect(after.data.title).toBe('Slow');
  expect(after.data.updated_at > before.updated_at).toBe(true);
});

test('a client that follows an ingest of thousands, while other writes continue, misses nothing', async () => {
  const { store, orgNumber, clock } = harness;
  const client = follower();
  const options = { orgNumber, createdBy: 'o', ownerId: null, clock: () => clock.now };
  let [made, beside] = [0, 0];
  // On a busy machine an ingest can be over before the client has made some steps.
  for (let round = 0; beside <= 5; round++) {
    expect(round).toBeLessThan(ROUNDS_MAX);
    let isDone = false;
    const ingest = ingestMeetings(store, options, meetings(3_000, round)).finally(() => {
      isDone = true;
    });
    for (beside = 0; !isDone; beside++) {
      await api.create('contacts');
      await client.catchUp();
    }
    expect((await ingest).created).toBe(3_000);
    made += 3_000 + beside;
  }
  await client.catchUp();
  expect(client.seen.size).toBe(made);
}, 300_000);

describe('a clock that is set back', () => {
  test('makes no record older than those before', async () => {
    const made: Json[] = [];
    for (const turnMs of [0, -HOUR_MS, 1, -24 * HOUR_MS]) {
      harness.clock.now += turnMs;
      made.push(await api.create('tasks', { name: 'T', done: true }));
    }
    const changed = await api.update('tasks', made[0].id, { name: 'U' });
    const instants = [...made.map((task) => task.created_at), changed.updated_at];
    expect(instants.toSorted()).toEqual(instants);
    expect(new Set(instants).size).toBe(5);
    for (const task of made) expect(task.done_at).toBe(task.created_at);
    expect(await api.ids('/tasks?sort_direction=asc')).toEqual(made.map((task) => task.id));
    expect(await api.ids(`/tasks?updated_since=${made[3].created_at}`)).toEqual([made[3].id, made[0].id]);
  });

  test('lets links stand newest first, and tell so', async () => {
    const { id } = await api.create('deals');
    const linked: string[] = [];
    for (const turnMs of [0, -HOUR_MS, -HOUR_MS]) {
      const contact = await api.create('contacts');
      harness.clock.now += turnMs;
      await api.post(`/deals/${id}/contacts`, { contact_id: contact.id });
      linked.unshift(contact.id);
    }
    const items = await api.list(`/deals/${id}/contacts`);
    expect(items.map((item) => item.id)).toEqual(linked);
    const instants = items.map((item) => item.linked_at);
    expect(instants.toSorted().toReversed()).toEqual(instants);
    expect(new Set(instants).size).toBe(3);
  });

  test('changes nothing of what the time of a request is', async () => {
    await api.create('tasks');
    harness.clock.now -= HOUR_MS;
    const { meta } = (await api.post('/tasks', { name: 'T' })).body;
    expect(meta.timestamp).toBe(new Date(harness.clock.now).toISOString());
  });
});

test('writers that share a commit have an instant each, in order, and one that fails takes none', async () => {
  const { store, orgNumber } = harness;
  const [{ created_at }] = await api.list('/pipelines');
  const last = Date.parse(created_at);
  const take = (fails: boolean) =>
    store.write('accounts', async (trx) => {
      const instant = await takeInstant(trx, orgNumber, 0);
      if (fails) throw new Error('on purpose');
      return instant - last;
    });
  const results = await Promise.allSettled([take(false), take(true), take(false), take(false)]);
  expect(results.map((result) => (result.status === 'fulfilled' ? result.value : null))).toEqual([
    1,
    null,
    2,
    3,
  ]);
});

test('the items of a batch share theirs', async () => {
  const { items } = (await api.post('/tasks/batch', [{ name: 'A' }, { name: 'B' }, { name: 'C' }])).body.data;
  expect(new Set(items.map((item: Json) => item.data.created_at)).size).toBe(1);
});

test('an organization runs ahead of its clock by itself', async () => {
  const { store, orgNumber, otherOrgNumber, clock } = harness;
  const later = clock.now + HOUR_MS;
  await store.write('accounts', (trx) => takeInstant(trx, orgNumber, later));
  expect(await store.write('accounts', (trx) => takeInstant(trx, orgNumber, clock.now))).toBe(later + 1);
  expect(await store.write('accounts', (trx) => takeInstant(trx, otherOrgNumber, clock.now + 1))).toBe(
    clock.now + 1,
  );
});

test('another process, whose clock is behind, writes after what was there, and before what comes', async () => {
  harness.clock.now = Date.now() + HOUR_MS;
  const before = await api.create('contacts');
  await sandbox.write('meetings.json', JSON.stringify([{ external_id: 'a' }, { external_id: 'b' }]));
  const command = ['ingest', 'meetings', 'meetings.json', '--org', 'Acme', '--db', harness.dbPath];
  expect((await sandbox.crm(command)).code).toBe(0);
  harness.clock.now = Date.now();
  const after = await api.create('contacts');
  for (const { created_at, updated_at } of await api.list('/meetings'))
    for (const instant of [created_at, updated_at])
      expect([before.created_at < instant, instant < after.created_at]).toEqual([true, true]);
}, 300_000);

test('an ingest that changes nothing takes no instant', async () => {
  const { store, orgNumber, clock } = harness;
  const ingest = () =>
    ingestMeetings(store, { orgNumber, createdBy: 'o', ownerId: null, clock: () => clock.now }, meetings(2));
  const last = () =>
    store.read.selectFrom('org_clocks').selectAll().where('org_id', '=', orgNumber).execute();
  await ingest();
  const before = await last();
  clock.now += HOUR_MS;
  expect((await ingest()).unchanged).toBe(2);
  expect(await last()).toEqual(before);
});
