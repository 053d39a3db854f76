// Filling in what an older database lacks: beside a server, in pieces, from where it stopped.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import {
  beginBackfill,
  type Filler,
  isFilled,
  listBackfills,
  sumBackfills,
} from '../../db/tables/backfills.ts';
import { startBackfills } from '../../server/backfills.ts';
import { fail } from '../support/background.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { until } from '../support/until.ts';

const RECORDS = 10;
const PIECE = 3;

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

let read: Map<number, number[]>;
/** The organization for which it fails, and where. */
let fails: { org: number; at: number } | null;
beforeEach(async () => {
  read = new Map();
  fails = null;
  const { store, orgNumber, otherOrgNumber } = harness;
  for (const org of [orgNumber, otherOrgNumber])
    await store.write(org, (trx) => beginBackfill(trx, org, 'sample'));
});

// Reads the numbers below RECORDS.
const sample: Filler = {
  title: 'sample',
  count: async () => RECORDS,
  fill: async (_, orgNumber, place) => {
    const from = Number(place ?? 0);
    if (orgNumber === fails?.org && from === fails.at) throw new Error('the disk is full');
    const to = Math.min(RECORDS, from + PIECE);
    const numbers = Array.from({ length: to - from }, (_, index) => from + index);
    read.getOrInsert(orgNumber, []).push(...numbers);
    return { place: to === RECORDS ? null : String(to), records: numbers.length };
  },
};

const all = Array.from({ length: RECORDS }, (_, index) => index);

test('each organization is read once, from the beginning to the end', async () => {
  const { store, orgNumber, otherOrgNumber } = harness;
  expect(await isFilled(store.read, orgNumber, 'sample')).toBe(false);
  const backfills = startBackfills(store, fail, { sample });
  await until(async () => (await listBackfills(store.read)).length === 0);
  await backfills.stop();
  expect(read).toEqual(
    new Map([
      [orgNumber, all],
      [otherOrgNumber, all],
    ]),
  );
  expect(await isFilled(store.read, orgNumber, 'sample')).toBe(true);
});

test('the records of all are counted before the first is filled in', async () => {
  const { store, orgNumber, otherOrgNumber } = harness;
  let sums = await sumBackfills(store.read);
  expect(sums.get('sample')).toEqual({ organizations: 2, records: 0, total: null });
  fails = { org: Math.min(orgNumber, otherOrgNumber), at: PIECE };
  const failing = startBackfills(
    store,
    async () => {
      sums = await sumBackfills(store.read);
    },
    { sample },
  );
  await until(() => sums.get('sample')?.total !== null);
  await failing.stop();
  expect(sums.get('sample')).toEqual({ organizations: 2, records: PIECE, total: 2 * RECORDS });
});

test('what fails for one organization continues where it stopped, and says how far it is; others are filled', async () => {
  const { store, orgNumber, otherOrgNumber } = harness;
  fails = { org: orgNumber, at: 2 * PIECE };
  const errors: unknown[] = [];
  const failing = startBackfills(store, (error) => errors.push(error), { sample });
  await until(() => isFilled(store.read, otherOrgNumber, 'sample'));
  await failing.stop();
  expect(errors.map(String)).toEqual(['Error: the disk is full']);
  const [row] = await listBackfills(store.read);
  expect(row).toMatchObject({ org_id: orgNumber, place: '6', records: 6, total: RECORDS });
  fails = null;
  const next = startBackfills(store, fail, { sample });
  await until(async () => (await listBackfills(store.read)).length === 0);
  await next.stop();
  expect(read.get(orgNumber)).toEqual(all);
});

test('two servers share the work, and what neither knows stays', async () => {
  const { store, orgNumber } = harness;
  await store.write(orgNumber, (trx) => beginBackfill(trx, orgNumber, 'unknown'));
  const servers = [startBackfills(store, fail, { sample }), startBackfills(store, fail, { sample })];
  await until(async () => (await listBackfills(store.read)).length === 1);
  await Promise.all(servers.map((server) => server.stop()));
  expect(read.get(orgNumber)).toEqual(all);
  expect((await listBackfills(store.read)).map(({ name }) => name)).toEqual(['unknown']);
});
