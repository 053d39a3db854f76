// Copies of keyed requests that reach two nodes at once: one is carried out, the others get its answer and are not counted.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { listQuotas } from '../../db/accounts/quotas.ts';
import { WINDOW_MS } from '../../db/counters/counters.ts';
import type { Json, Reply } from '../support/harness.ts';
import { type Nodes, startNodes } from '../support/nodes.ts';
import { describe } from '../support/on-postgres.ts';
import { setQuota } from '../support/quota.ts';

const KEYS = Number(process.env.NODES_KEYS ?? 150);
// In waves, each of which is answered in time on a busy machine too.
const KEYS_AT_ONCE = 30;
const COPIES = 4;
const ROUNDS = 8;
const LIMIT = 1_000_000;

describe('over two nodes', () => {
  let nodes: Nodes;
  beforeAll(async () => {
    nodes = await startNodes({ keyLimit: LIMIT, orgLimit: 2 * LIMIT });
    const { clock } = nodes.first;
    // What is counted here is counted in one minute.
    clock.now = Math.ceil(clock.now / WINDOW_MS) * WINDOW_MS;
  });
  afterAll(() => nodes.close());

  type Request = [method: string, path: string, body: Json];

  /** Sends copies of a request to either node in turn, all at once. */
  function sendCopies([method, path, body]: Request, key: string, count = COPIES): Promise<Reply[]> {
    const headers = { 'Idempotency-Key': key };
    return Promise.all(
      Array.from({ length: count }, (_, index) => {
        const node = nodes.all[index % 2] ?? nodes.first;
        return node.send(method, `/api/v2${path}`, { body, headers });
      }),
    );
  }

  /** How many requests the key has been let in with in this minute. */
  async function counted(): Promise<number> {
    const { headers } = await nodes.first.send('GET', '/api/v2/contacts?limit=1');
    return LIMIT - Number(headers.get('X-RateLimit-Remaining')) - 1;
  }

  const isReplay = ({ headers }: Reply) => headers.get('Idempotent-Replayed') === 'true';

  test(`${KEYS} keys, each sent ${COPIES} times`, async () => {
    const before = await counted();
    const requests = Array.from({ length: KEYS }, (_, index): Request => {
      if (index % 3 === 0) return ['POST', '/contacts/batch', [{ first_name: `A${index}` }, { nope: 1 }]];
      if (index % 3 === 1) return ['PATCH', `/contacts/absent-${index}`, { first_name: 'A' }];
      return ['POST', '/contacts', { first_name: `A${index}`, email: `a${index}@copies.test` }];
    });
    const all: Reply[][] = [];
    while (all.length < KEYS) {
      const wave = requests.slice(all.length, all.length + KEYS_AT_ONCE);
      const sent = wave.map((request, index) => sendCopies(request, `copies-${all.length + index}`));
      all.push(...(await Promise.all(sent)));
    }
    for (const [index, copies] of all.entries()) {
      expect(copies.filter((reply) => !isReplay(reply))).toHaveLength(1);
      expect(new Set(copies.map(({ status }) => status))).toEqual(new Set([[200, 404, 201][index % 3] ?? 0]));
      expect(new Set(copies.map(({ text }) => text)).size).toBe(1);
      expect(new Set(copies.map(({ headers }) => headers.get('Location'))).size).toBe(1);
    }
    const contacts = nodes.first.store.read.selectFrom('contacts' as 'records').select('id');
    expect(await contacts.execute()).toHaveLength(Math.ceil(KEYS / 3) + Math.floor(KEYS / 3));
    expect((await counted()) - before).toBe(KEYS + 1);
  }, 300_000);

  test('copies of batches and upserts are carried out once', async () => {
    const make = async () =>
      (await nodes.first.send('POST', '/api/v2/contacts', { body: { first_name: 'A' } })).body.data.id;
    for (let round = 0; round < ROUNDS; round++) {
      const [changed, deleted, linked] = [await make(), await make(), await make()];
      const deal = await nodes.first.send('POST', '/api/v2/deals', { body: { name: 'D' } });
      const link = { of: 'deals.contacts', parent_id: deal.body.data.id, id: linked };
      const external_id = { source: 'copies', id: changed };
      // Each would be answered in another way the second time.
      const requests: [outcome: string, ...Request][] = [
        ['updated', 'POST', '/contacts/batch/update', [{ id: changed, title: 'T' }]],
        ['deleted', 'POST', '/contacts/batch/delete', [deleted]],
        ['created', 'POST', '/contacts/batch/upsert', [{ email: `${changed}@batch.test` }]],
        ['created', 'POST', '/contacts/upsert', { first_name: 'A', external_id }],
        ['linked', 'POST', '/links/batch', [link]],
      ];
      const sent = requests.map(([, ...request], index) => sendCopies(request, `batches-${round}-${index}`));
      for (const [index, copies] of (await Promise.all(sent)).entries()) {
        expect(copies.filter((reply) => !isReplay(reply))).toHaveLength(1);
        expect(new Set(copies.map(({ text }) => text)).size).toBe(1);
        const { data } = copies[0]?.body ?? {};
        expect(data.items?.[0].status ?? data.outcome).toBe(requests[index]?.[0]);
      }
    }
  }, 300_000);

  test('one key with two bodies is one request and a fault, which is not counted', async () => {
    for (let round = 0; round < 10; round++) {
      const before = await counted();
      const key = `bodies-${round}`;
      const sent = nodes.all.map(({ send }, index) =>
        send('POST', '/api/v2/contacts', {
          body: { first_name: `B${index}` },
          headers: { 'Idempotency-Key': key },
        }),
      );
      const replies = await Promise.all(sent);
      expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 422]);
      const refused = replies.find(({ status }) => status === 422);
      expect(refused?.body.error.details[0]).toMatchObject({ path: 'Idempotency-Key' });
      expect((await counted()) - before).toBe(2);
    }
  });

  test('what was not stored is carried out by the next request', async () => {
    const request: Request = ['POST', '/contacts', { nope: 1 }];
    const replies = await sendCopies(request, 'faulty');
    for (const reply of replies) expect([reply.status, isReplay(reply)]).toEqual([422, false]);
    const [good] = await sendCopies(['POST', '/contacts', { first_name: 'C' }], 'faulty', 1);
    expect(good?.status).toBe(201);
  });

  test('what is stored is counted as one, and held to one budget', async () => {
    const { orgNumber, clock } = nodes.first;
    const isStored = ({ status }: Reply) => status === 201;
    await setQuota(nodes.first, { replayBytes: 0 });
    for (const node of nodes.all) {
      const headers = { 'Idempotency-Key': 'no-room' };
      const refused = await node.send('POST', '/api/v2/contacts', { headers, body: { first_name: 'A' } });
      expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    }
    const bytes = async () =>
      (await listQuotas(nodes.all[1].store.read, orgNumber, clock.now)).get(orgNumber)?.replayBytes ?? 0;
    const before = await bytes();
    await setQuota(nodes.first, { replayBytes: before + 20_000 });
    const countedBefore = await counted();
    const replies = (
      await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          sendCopies(['POST', '/contacts', { first_name: 'A' }], `budget-${index}`, 2),
        ),
      )
    ).flat();
    const done = new Set(replies.filter(isStored).map(({ text }) => text)).size;
    expect(done).toBeGreaterThan(5);
    expect(done).toBeLessThan(60);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201, 429]));
    // Each that was refused got its response before it was counted, or its token was given back.
    expect(await counted()).toBe(countedBefore + done + 1);
    const each = ((await bytes()) - before) / done;
    expect((await bytes()) - before - each).toBeLessThan(20_000);
    const row = nodes.first.store.read.selectFrom('idempotency_keys').where('org_id', '=', orgNumber);
    const { sum } = await row.select((eb) => eb.fn.sum('stored_bytes').as('sum')).executeTakeFirstOrThrow();
    expect(await bytes()).toBe(Number(sum));
    await setQuota(nodes.first, {});
  });
});
