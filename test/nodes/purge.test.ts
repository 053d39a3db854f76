// What is cleared away in the background: by one node at a time, and without getting into anybody's way.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { purgeStoredResponses } from '../../db/tables/idempotency.ts';
import { type Nodes, startNodes } from '../support/nodes.ts';
import { describe } from '../support/on-postgres.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes();
});
afterAll(() => nodes.close());

describe('of two nodes', () => {
  test('one at a time runs a job that is to be run alone, and nobody twice', async () => {
    const runs: string[] = [];
    const end = Promise.withResolvers<void>();
    const [one, other] = nodes.all.map(({ store }, index) => (job = Promise.resolve()) => {
      return store.alone(async () => {
        runs.push(`node ${index}`);
        await job;
      });
    });
    const first = one?.(end.promise);
    while (runs.length === 0) await Bun.sleep(5);
    await Promise.all([one?.(), other?.()]);
    expect(runs).toEqual(['node 0']);
    end.resolve();
    await first;
    await other?.();
    expect(runs).toEqual(['node 0', 'node 1']);
  });

  test('a job that fails leaves the way free', async () => {
    const [one, other] = nodes.all;
    await expect(one.store.alone(() => Promise.reject(new Error('on purpose')))).rejects.toThrow(
      'on purpose',
    );
    let isRun = false;
    await other.store.alone(async () => {
      isRun = true;
    });
    expect(isRun).toBe(true);
  });
});

test('both purge while keys that have expired are used again: no answer is lost, and none kept', async () => {
  const { store, clock, orgNumber, otherOrgNumber } = nodes.first;
  const { key: apiKey, id: principal } = await nodes.first.issue();
  const row = { principal, fingerprint: 'f', status: 201, location: null, body: '' };
  const keys = Array.from({ length: 600 }, (_, index) => `k${index}`);
  for (const org_id of [orgNumber, otherOrgNumber])
    await store.write(org_id, async (trx) => {
      for (const [index, key] of keys.entries())
        await trx
          .insertInto('idempotency_keys')
          .values({ ...row, org_id, key, created_at: clock.now - DAY_MS - index })
          .execute();
    });
  const reuse = keys.slice(0, 100).map((key, index) => {
    const headers = { 'Idempotency-Key': key };
    const input = { key: apiKey, body: { first_name: 'A' }, headers };
    return nodes.all[index % 2]?.send('POST', '/api/v2/contacts', input);
  });
  const purged = await Promise.all(nodes.all.map((node) => purgeStoredResponses(node.store, clock.now)));
  const replies = await Promise.all(reuse);
  expect(new Set(replies.map((reply) => reply?.status))).toEqual(new Set([201]));
  expect(purged.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(1_100);
  const kept = await store.read.selectFrom('idempotency_keys').select(['key', 'created_at']).execute();
  expect(kept.map(({ key }) => key).toSorted()).toEqual(keys.slice(0, 100).toSorted());
  for (const { created_at } of kept) expect(created_at).toBeGreaterThan(clock.now - DAY_MS);
});
