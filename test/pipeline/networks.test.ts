// Keys that may be used from certain networks only: wherever else they are used from, they open nothing and tell nothing.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { findKey, revokeKey, updateKey } from '../../db/accounts/keys.ts';
import { nextTurn } from '../../db/event-loop.ts';
import { openStore } from '../../db/store.ts';
import { expectRefusal, versionOf } from '../support/envelope.ts';
import { type Harness, type RequestInput, startHarness } from '../support/harness.ts';
import { insertTranscribed } from '../support/read-only.ts';

const NETWORKS = ['10.20.0.0/16', '203.0.113.7', '2001:db8:aa::/48'];
const HERE = '10.20.30.40';
const ELSEWHERE = '198.51.100.9';

const lines: string[] = [];
let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ log: (line) => lines.push(line) });
});
afterAll(() => harness.close());

async function sendFrom(address: string, key: string, path = '/api/v2/contacts', input: RequestInput = {}) {
  const headers = { ...input.headers, 'X-Test-Address': address };
  return harness.send(input.body === undefined ? 'GET' : 'POST', path, { ...input, key, headers });
}

function expectElsewhere(
  reply: Awaited<ReturnType<typeof sendFrom>>,
  address: string,
  version: '1' | '2' = '2',
) {
  const faults: [string, string][] = [['key.networks', 'OPERATION_FORBIDDEN']];
  const { message } = expectRefusal(reply, 403, 'OPERATION_FORBIDDEN', faults, version);
  expect(message).toContain(address);
  for (const network of NETWORKS) expect(reply.text).not.toContain(network);
}

describe('a key of certain networks', () => {
  test.each([
    [HERE, true],
    ['10.20.255.255', true],
    ['10.21.0.0', false],
    ['203.0.113.7', true],
    ['203.0.113.8', false],
    ['2001:db8:aa::1', true],
    ['2001:DB8:00AA:0:0:0:0:1', true],
    ['2001:db8:ab::1', false],
    [`::ffff:${HERE}`, true],
    ['::ffff:10.21.0.0', false],
    ['::1', false],
    ['local', false],
    ['', false],
  ])('used from "%s": %p', async (address, isLetIn) => {
    const { key } = await harness.issue({ networks: NETWORKS });
    expect((await sendFrom(address, key)).status).toBe(isLetIn ? 200 : 403);
  });

  test('names the address as it was seen, IPv4 as IPv4, and never the networks', async () => {
    const { key } = await harness.issue({ networks: NETWORKS });
    expectElsewhere(await sendFrom(ELSEWHERE, key), ELSEWHERE);
    expectElsewhere(await sendFrom(`::ffff:${ELSEWHERE}`, key), `from ${ELSEWHERE};`);
  });

  test('is held to them in both versions, whatever is asked', async () => {
    const v1 = await harness.issue({ api: 'v1', networks: NETWORKS });
    const v2 = await harness.issue({ networks: NETWORKS });
    for (const [path, key] of [
      ['/api/v1/authenticate', v1.key],
      ['/api/v1/people/absent', v1.key],
      ['/api/v2/contacts?limit=none', v2.key],
      ['/api/v2/deals/absent', v2.key],
    ] as const)
      expectElsewhere(await sendFrom(ELSEWHERE, key, path), ELSEWHERE, versionOf(path));
    expect((await sendFrom(HERE, v1.key, '/api/v1/authenticate')).status).toBe(200);
  });

  test('is held to them after route and validity, before scope and replay', async () => {
    const { key } = await harness.issue({ networks: NETWORKS, scopes: ['contacts:write'] });
    expectRefusal(await sendFrom(ELSEWHERE, key, '/api/v2/nothing'), 404, 'RESOURCE_NOT_FOUND');
    const once = { body: { first_name: 'Once' }, headers: { 'Idempotency-Key': 'once' } };
    expect((await sendFrom(HERE, key, '/api/v2/contacts', once)).status).toBe(201);
    expectElsewhere(await sendFrom(ELSEWHERE, key, '/api/v2/contacts', once), ELSEWHERE);
    const replayed = await sendFrom(HERE, key, '/api/v2/contacts', once);
    expect(replayed.headers.get('Idempotent-Replayed')).toBe('true');
    expectElsewhere(await sendFrom(ELSEWHERE, key, '/api/v2/deals'), ELSEWHERE);
    expectRefusal(await sendFrom(HERE, key, '/api/v2/deals'), 403, 'AUTH_INSUFFICIENT_SCOPE');
    const expired = await harness.issue({ networks: NETWORKS, expiresAt: harness.clock.now - 1 });
    expectRefusal(await sendFrom(ELSEWHERE, expired.key), 401, 'AUTH_EXPIRED_API_KEY');
    const revoked = await harness.issue({ networks: NETWORKS });
    await harness.store.write('accounts', async (trx) => {
      const row = await findKey(trx, revoked.id);
      if (row !== undefined) await revokeKey(trx, row, harness.clock.now);
    });
    expectRefusal(await sendFrom(ELSEWHERE, revoked.key), 401, 'AUTH_INVALID_API_KEY');
  });

  test('is not used by what is refused, which the log tells with the id of the key', async () => {
    const { key, id } = await harness.issue({ networks: NETWORKS });
    expectElsewhere(await sendFrom(ELSEWHERE, key), ELSEWHERE);
    await harness.store.write('accounts', async () => undefined);
    expect((await findKey(harness.store.read, id))?.last_used_at).toBeNull();
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ key_id: id, status: 403 });
  });

  test('is none that was guessed: it may be tried from elsewhere as often as one likes', async () => {
    const { key } = await harness.issue({ networks: NETWORKS });
    for (let count = 0; count < 70; count++) expectElsewhere(await sendFrom(ELSEWHERE, key), ELSEWHERE);
  });

  test('gives links that carry their own authority', async () => {
    const { key } = await harness.issue({ networks: NETWORKS });
    const recording = await insertTranscribed(harness);
    const { transcript_url: url } = (await sendFrom(HERE, key, `/api/v2/recordings/${recording}`)).body.data;
    const { pathname, search } = new URL(url);
    const headers = { 'X-Test-Address': ELSEWHERE };
    expect((await harness.send('GET', pathname + search, { key: null, headers })).status).toBe(200);
  });
});

describe('the networks of a key change with the next request', () => {
  const limit = async (store: Harness['store'], id: string, networks: readonly string[] | null) =>
    store.write('accounts', async (trx) => {
      const row = await findKey(trx, id);
      if (row !== undefined) await updateKey(trx, row, { networks });
    });

  test('where they were changed here', async () => {
    const { key, id } = await harness.issue();
    for (let round = 0; round < 20; round++) {
      expect((await sendFrom(ELSEWHERE, key)).status).toBe(200);
      await limit(harness.store, id, NETWORKS);
      expectElsewhere(await sendFrom(ELSEWHERE, key), ELSEWHERE);
      await limit(harness.store, id, null);
    }
  });

  test('where another process changed them', async () => {
    const { key, id } = await harness.issue({ networks: NETWORKS });
    const other = await openStore(harness.dbPath);
    for (let round = 0; round < 20; round++) {
      expectElsewhere(await sendFrom(ELSEWHERE, key), ELSEWHERE);
      await limit(other, id, [...NETWORKS, '198.51.100.0/24']);
      // One that is really another commits between two turns of this one.
      await nextTurn();
      expect((await sendFrom(ELSEWHERE, key)).status).toBe(200);
      await limit(other, id, NETWORKS);
      await nextTurn();
    }
    await other.close();
  });

  test('and what cannot be read of them lets nobody in', async () => {
    const { key, id } = await harness.issue();
    await limit(harness.store, id, ['nonsense']);
    expect((await sendFrom(HERE, key)).status).toBe(403);
  });
});
