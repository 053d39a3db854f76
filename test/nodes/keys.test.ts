// Keys that are issued, rotated and revoked by way of one node: the other knows it with its next request.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { findKey, revokeKey, rotateKey, updateKey } from '../../db/accounts/keys.ts';
import { type Nodes, startNodes } from '../support/nodes.ts';
import { describe } from '../support/on-postgres.ts';

const ROUNDS = 20;

describe('over two nodes, a key', () => {
  let nodes: Nodes;
  let key: string;
  let id: string;
  beforeAll(async () => {
    nodes = await startNodes();
  });
  afterAll(() => nodes.close());
  beforeEach(async () => {
    ({ key, id } = await nodes.first.issue());
  });

  /** What either node answers to a key, asked at the same time. */
  const statuses = (one: string) =>
    Promise.all(
      nodes.all.map(async ({ send }) => {
        // None of them has guessed yet.
        const headers = { 'X-Test-Address': crypto.randomUUID() };
        return (await send('GET', '/api/v2/contacts?limit=1', { key: one, headers })).status;
      }),
    );

  async function changed<T>(change: (...args: Parameters<typeof revokeKey>) => Promise<T>): Promise<T> {
    const { store, clock } = nodes.first;
    return store.write('accounts', async (trx) => {
      const row = await findKey(trx, id);
      if (row === undefined) throw new Error('no such key');
      return change(trx, row, clock.now);
    });
  }

  test('that is issued', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const issued = await nodes.first.issue();
      expect(await statuses(issued.key)).toEqual([200, 200]);
    }
  });

  test('that is rotated', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      expect(await statuses(key)).toEqual([200, 200]);
      const former = key;
      key = (await changed((trx, row, now) => rotateKey(trx, row, 0, now))).key;
      expect([await statuses(former), await statuses(key)]).toEqual([
        [401, 401],
        [200, 200],
      ]);
    }
  });

  test('that is revoked', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      ({ key, id } = await nodes.first.issue());
      expect(await statuses(key)).toEqual([200, 200]);
      expect(await changed(revokeKey)).toEqual({ isRevoked: true, disabled: [] });
      expect(await statuses(key)).toEqual([401, 401]);
    }
  });

  test('that may be used from certain networks', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      expect(await statuses(key)).toEqual([200, 200]);
      await changed((trx, row) => updateKey(trx, row, { networks: ['10.0.0.0/8'] }));
      expect(await statuses(key)).toEqual([403, 403]);
      await changed((trx, row) => updateKey(trx, row, { networks: null }));
    }
  });

  test('that may do less, and ends', async () => {
    const { store, clock } = nodes.first;
    const set = (values: { scopes?: string; expires_at?: number }) =>
      store.write('accounts', (trx) =>
        trx.updateTable('api_keys').set(values).where('id', '=', id).execute(),
      );
    expect(await statuses(key)).toEqual([200, 200]);
    await set({ scopes: 'deals:read' });
    expect(await statuses(key)).toEqual([403, 403]);
    await set({ scopes: 'contacts:read', expires_at: clock.now + 10 });
    expect(await statuses(key)).toEqual([200, 200]);
    clock.now += 10;
    expect(await statuses(key)).toEqual([401, 401]);
  });

  test('that was used, to the minute, whichever node it came to', async () => {
    const { store, clock } = nodes.first;
    const used = async () => (await findKey(store.read, id))?.last_used_at;
    const minute = Math.ceil(clock.now / 60_000) * 60_000;
    for (const [index, { send }] of nodes.all.entries()) {
      clock.now = minute + index * 60_000 + 1_500;
      await send('GET', '/api/v2/contacts?limit=1', { key });
      // Behind whatever was queued before it.
      await nodes.all[index]?.store.write('accounts', async () => undefined);
      expect(await used()).toBe(minute + index * 60_000);
    }
  });
});
