// The audit log: what is recorded stays as it was, on either engine, and is found again.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { type Actor, listAudit, pruneAudit, recordAudit } from '../../db/tables/audit.ts';
import { type Harness, startHarness } from '../support/harness.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const ADA: Actor = { type: 'operator', id: 'ada@desk', userId: null, origin: 'command line' };

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const add = (orgNumber: number | null, now: number, actor = ADA) =>
  harness.store.write('accounts', (trx) =>
    recordAudit(trx, { orgNumber, actor, action: 'key.revoked', target: { type: 'keys', id: 'k' }, now }),
  );
const remove = (at: number) =>
  harness.store.write('accounts', (trx) =>
    trx.deleteFrom('audit_log').where('created_at', '=', at).execute(),
  );

test('an entry is never changed, whatever its age', async () => {
  await add(harness.orgNumber, 1);
  const change = () =>
    harness.store.write('accounts', (trx) =>
      trx.updateTable('audit_log').set({ actor: 'eve@desk' }).execute(),
    );
  expect(change()).rejects.toThrow('only added to');
});

test('an entry is kept for 30 days, and can be removed then', async () => {
  const [young, old] = [Date.now() - 29 * DAY_MS, Date.now() - 31 * DAY_MS];
  for (const now of [young, old]) await add(harness.orgNumber, now);
  expect(remove(young)).rejects.toThrow('kept for 30 days');
  await remove(old);
  const kept = await listAudit(harness.store.read, { limit: 100 });
  expect(kept.map((entry) => entry.created_at)).not.toContain(old);
  expect(kept.map((entry) => entry.created_at)).toContain(young);
});

test('what belongs to no organization has its place, and entries come newest first, page by page', async () => {
  const now = Date.now();
  for (let count = 0; count < 5; count++) await add(count % 2 === 0 ? null : harness.otherOrgNumber, now);
  const all = await listAudit(harness.store.read, { since: now, limit: 100 });
  expect(all.map((entry) => entry.org_id)).toEqual([0, harness.otherOrgNumber, 0, harness.otherOrgNumber, 0]);
  expect(all[0]?.organization_id).toBeNull();
  expect(all[1]?.organization_id).toBeString();
  const first = await listAudit(harness.store.read, { since: now, limit: 2 });
  const rest = await listAudit(harness.store.read, { since: now, limit: 9, after: first.at(-1) ?? all[0] });
  expect([...first, ...rest]).toEqual(all);
  const others = await listAudit(harness.store.read, {
    orgNumber: harness.otherOrgNumber,
    since: now,
    limit: 9,
  });
  expect(others).toHaveLength(2);
});

test('no statement gets rid of the whole of it', async () => {
  const clear = () => harness.store.write('accounts', (trx) => sql`delete from audit_log`.execute(trx));
  expect(clear()).rejects.toThrow('only added to');
});

test('the days that are past keeping go, and one entry tells of it', async () => {
  const now = Date.now();
  for (let age = 95; age < 105; age++) await add(harness.orgNumber, now - age * DAY_MS);
  const prune = () => pruneAudit(harness.store, { keepMs: 100 * DAY_MS, host: 'desk', now });
  await prune();
  await prune();
  const kept = await listAudit(harness.store.read, { limit: 100 });
  const oldest = Math.min(...kept.map((entry) => entry.created_at));
  expect(oldest).toBe(now - 100 * DAY_MS);
  const told = kept.filter((entry) => entry.action === 'audit.pruned');
  // The one of 1970 that another test has added is among them.
  expect(told).toMatchObject([{ actor_type: 'server', actor: 'desk', org_id: 0 }]);
  expect(JSON.parse(told[0]?.details ?? '')).toEqual({
    entries: 5,
    before: expect.stringMatching(/T00:00:00/),
  });
});
