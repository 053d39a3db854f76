// Limits that two nodes keep together: exact under load, over the turn of a minute, and for what is not counted.
import { afterEach, expect, test } from 'bun:test';
import { updateKey } from '../../db/accounts/keys.ts';
import type { HarnessOptions, Reply } from '../support/harness.ts';
import { type Nodes, startNodes } from '../support/nodes.ts';
import { describe } from '../support/on-postgres.ts';
import { insertTranscribed } from '../support/read-only.ts';

const MINUTE_MS = 60_000;

let nodes: Nodes;
afterEach(() => nodes.close());

async function start(options: HarnessOptions): Promise<void> {
  nodes = await startNodes(options);
  const { clock } = nodes.first;
  clock.now = Math.ceil(clock.now / MINUTE_MS) * MINUTE_MS + 12_500;
}

/** Sends requests to either node in turn. */
function sendMany(count: number, path: string, input: { key?: string; address?: string } = {}) {
  const { key, address = 'local' } = input;
  return Array.from({ length: count }, (_, index) =>
    nodes.all[index % 2]?.send('GET', path, { key, headers: { 'X-Test-Address': address } }),
  ) as Promise<Reply>[];
}

const header = ({ headers }: Reply, name: string) => Number(headers.get(`X-RateLimit-${name}`));
const countOf = (replies: readonly Reply[], status: number) =>
  replies.filter((reply) => reply.status === status).length;

describe('two nodes', () => {
  test('let in as many on one key as its limit says, each told another count', async () => {
    await start({ keyLimit: 200, orgLimit: 1_000 });
    const replies = await Promise.all(sendMany(600, '/api/v2/contacts/absent'));
    expect([countOf(replies, 404), countOf(replies, 429)]).toEqual([200, 400]);
    const told = replies.filter(({ status }) => status === 404).map((reply) => header(reply, 'Remaining'));
    expect(told.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, index) => index));
    for (const refused of replies.filter(({ status }) => status === 429)) {
      expect([header(refused, 'Limit'), header(refused, 'Remaining')]).toEqual([200, 0]);
      expect(refused.headers.get('Retry-After')).toBe('48');
    }
  });

  test('let in as many on a key as it may send by itself, from the moment it is said', async () => {
    await start({ keyLimit: 200, orgLimit: 1_000 });
    const { store, orgNumber } = nodes.first;
    const { key, id } = await nodes.first.issue({ requestsPerMinute: 50 });
    const before = await Promise.all(sendMany(100, '/api/v2/contacts/absent', { key }));
    expect([countOf(before, 404), countOf(before, 429)]).toEqual([50, 50]);
    await store.write('accounts', (trx) =>
      updateKey(trx, { org_id: orgNumber, id }, { requestsPerMinute: 300 }),
    );
    const after = await Promise.all(sendMany(300, '/api/v2/contacts/absent', { key }));
    expect([countOf(after, 404), countOf(after, 429)]).toEqual([250, 50]);
  });

  test('let in as many of an organization as its limit says, and count a refusal nowhere', async () => {
    await start({ keyLimit: 100, orgLimit: 250 });
    const keys = await Promise.all(Array.from({ length: 4 }, () => nodes.first.issue()));
    const sent = keys.flatMap(({ key }) => sendMany(130, '/api/v2/contacts/absent', { key }));
    const replies = await Promise.all(sent);
    expect([countOf(replies, 404), countOf(replies, 429)]).toEqual([250, 270]);
    nodes.first.clock.now += MINUTE_MS;
    const [again] = await Promise.all(sendMany(1, '/api/v2/contacts/absent'));
    expect(again && header(again, 'Remaining')).toBe(99);
  });

  test('keep to the limit in each minute while it turns', async () => {
    await start({ keyLimit: 100, orgLimit: 1_000 });
    const { clock } = nodes.first;
    const replies: Reply[] = [];
    for (let minute = 0; minute < 4; minute++) {
      const sent = sendMany(90, '/api/v2/contacts/absent');
      // Amid those that are under way, and back by less than a minute, as clocks are.
      await Bun.sleep(3);
      clock.now += MINUTE_MS;
      sent.push(...sendMany(60, '/api/v2/contacts/absent'));
      clock.now -= 20_000;
      sent.push(...sendMany(30, '/api/v2/contacts/absent'));
      clock.now += 20_000;
      replies.push(...(await Promise.all(sent)));
    }
    const byReset = Map.groupBy(
      replies.filter(({ status }) => status === 404),
      (reply) => header(reply, 'Reset'),
    );
    for (const admitted of byReset.values()) expect(admitted.length).toBeLessThanOrEqual(100);
    for (const [reset, admitted] of byReset) {
      const told = admitted.map((reply) => header(reply, 'Remaining')).toSorted((a, b) => b - a);
      expect([reset, told]).toEqual([reset, told.map((_, index) => 99 - index)]);
    }
  });

  test('let an address guess as often as the limit says', async () => {
    await start({});
    const replies = await Promise.all(sendMany(100, '/api/v2/contacts', { key: 'wrong', address: 'a' }));
    expect([countOf(replies, 401), countOf(replies, 429)]).toEqual([60, 40]);
    const others = await Promise.all(sendMany(2, '/api/v2/contacts', { key: 'wrong', address: 'b' }));
    expect(countOf(others, 401)).toBe(2);
    expect(countOf(await Promise.all(sendMany(2, '/api/v2/contacts', { address: 'a' })), 200)).toBe(2);
  });

  test('let a link be used as often as the limit says, and store nothing that opens it', async () => {
    await start({});
    const id = await insertTranscribed(nodes.first);
    const { body } = await nodes.first.send('GET', `/api/v2/recordings/${id}`);
    const link = new URL(body.data.transcript_url);
    const replies = await Promise.all(sendMany(90, link.pathname + link.search));
    expect([countOf(replies, 200), countOf(replies, 429)]).toEqual([60, 30]);
    const rows = await nodes.first.store.read
      .selectFrom('minute_counts' as 'settings')
      .selectAll()
      .execute();
    expect(rows.length).toBeGreaterThanOrEqual(2);
    expect(JSON.stringify(rows)).not.toContain(link.searchParams.get('token'));
  });

  test('forget what is over, and only that', async () => {
    await start({});
    const rows = async () => {
      const { read } = nodes.first.store;
      return (
        await read
          .selectFrom('minute_counts' as 'settings')
          .selectAll()
          .execute()
      ).length;
    };
    for (const address of ['a', 'b', 'c'])
      await Promise.all(sendMany(1, '/api/v2/contacts', { key: 'wrong', address }));
    nodes.first.clock.now += MINUTE_MS;
    await nodes.first.store.counters.purge();
    expect(await rows()).toBe(3);
    nodes.first.clock.now += MINUTE_MS;
    await nodes.first.store.counters.purge();
    expect(await rows()).toBe(0);
  });

  // A restored dump has the counts of when it was made, by the clock of another server.
  test.each([
    ['of years ago', -2_000_000, 200],
    ['of two minutes ago', -2, 200],
    ['of the minute before', -1, 200],
    ['of this minute', 0, 429],
    ['of the next minute, by a clock that is a little ahead', 1, 429],
    ['of a clock that is far ahead', 3, 200],
    ['of years to come', 2_000_000, 200],
  ])('find counts %s in a database', async (_, minutes, status) => {
    await start({ keyLimit: 20 });
    const { store, clock } = nodes.first;
    await Promise.all(sendMany(20, '/api/v2/contacts'));
    clock.now -= minutes * MINUTE_MS;
    await store.counters.purge();
    expect((await Promise.all(sendMany(2, '/api/v2/contacts'))).map((reply) => reply.status)).toEqual([
      status,
      status,
    ]);
    // Whatever it found, it holds nobody up for longer than a minute or two.
    clock.now += 2 * MINUTE_MS;
    expect((await Promise.all(sendMany(1, '/api/v2/contacts'))).map((reply) => reply.status)).toEqual([200]);
  });
});
