// What one organization asks for keeps no other waiting: large answers and large writes leave turns to others.
// Of what PostgreSQL keeps, answers come in turns by themselves.
import { afterAll, beforeAll, expect, spyOn } from 'bun:test';
import { getResource } from '../../db/model/resources/registry.ts';
import { accessOfKey } from '../../server/access.ts';
import { renderAnswer } from '../../server/pipeline/respond.ts';
import { getRecords } from '../../server/records/records.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { longText } from '../support/long-texts.ts';
import { test } from '../support/on-sqlite.ts';

const LARGE_LISTS = 8;

let harness: Harness;
let other = '';

// 300,000 bytes of custom.
const large = (index: number): Json => ({
  first_name: `Large ${index}`,
  custom: Object.fromEntries(Array.from({ length: 100 }, (_, key) => [`key ${key}`, longText('CJK')])),
});
const batchOf = (count: number): Json => Array.from({ length: count }, (_, index) => large(index));

beforeAll(async () => {
  harness = await startHarness();
  other = (await harness.issue({ orgNumber: harness.otherOrgNumber })).key;
  await harness.send('POST', '/api/v2/contacts/batch', { body: batchOf(16) });
}, 300_000);
afterAll(() => harness.close());

test('of large lists that are asked for at once, one is made before another organization has its turn', async () => {
  const answered: string[] = [];
  const ask = async (name: string, path: string, key: string) => {
    const { status } = await harness.send('GET', path, { key });
    expect(status).toBe(200);
    answered.push(name);
  };
  const lists = Array.from({ length: LARGE_LISTS }, () => ask('large', '/api/v2/contacts', harness.v2));
  const others = Bun.sleep(0).then(() => ask('other', '/api/v2/deals', other));
  await Promise.all([...lists, others]);
  expect(answered.indexOf('other')).toBeLessThanOrEqual(LARGE_LISTS / 2);
}, 300_000);

test('a large batch leaves turns to others while it is stored, answered and committed', async () => {
  let turns = 0;
  // As on a machine that is a quarter as fast: turns are told by the clock.
  const now = performance.now.bind(performance);
  using _slow = spyOn(performance, 'now').mockImplementation(() => 4 * now());
  const { write } = harness.store;
  harness.store.write = async (scope, job) => {
    const counted = await countTurns(() => write(scope, job));
    turns += counted.turns;
    return counted.result;
  };
  const { body } = await harness.send('POST', '/api/v2/contacts/batch', { body: batchOf(100) });
  harness.store.write = write;
  expect(body.data.summary.succeeded).toBe(100);
  // In one go it would be over before anybody else has any.
  expect(turns).toBeGreaterThanOrEqual(3);
}, 300_000);

test('the records of a large batch are read in several turns', async () => {
  const { body } = await harness.send('POST', '/api/v2/contacts/batch', { body: batchOf(100) });
  const ids = body.data.items.map((item: Json) => item.data.id);
  const contacts = getResource('contacts');
  const access = accessOfKey(
    await harness.store.read.selectFrom('api_keys').selectAll().executeTakeFirstOrThrow(),
  );
  const { turns, result } = await countTurns(() =>
    getRecords({ db: harness.store.read, access }, contacts, ids),
  );
  expect([...result.keys()].toSorted()).toEqual(ids.toSorted());
  expect(turns).toBeGreaterThan(0);
}, 300_000);

test('a response to a batch that takes long to write is written in several turns, as in one go', async () => {
  const asked = {
    api: 'v2',
    requestId: 'req_1',
    now: 1_750_000_000_000,
    baseUrl: 'http://crm.test',
  } as const;
  // However fast the machine is.
  const slow = (index: number): Json => ({
    toJSON: () => {
      Bun.sleepSync(2);
      return { index };
    },
  });
  const items = Array.from({ length: 95 }, (_, index) => ({ status: 'created', data: slow(index) }));
  const data = { items, summary: { total: 95 } };
  const { turns, result } = await countTurns(async () =>
    renderAnswer(asked, { status: 200, object: 'batch', data }),
  );
  const { meta } = JSON.parse(result.body);
  expect(result.body).toBe(JSON.stringify({ object: 'batch', data, meta }));
  expect(turns).toBeGreaterThan(0);
}, 300_000);

/** How many turns others have while something is done. */
async function countTurns<T>(act: () => Promise<T>): Promise<{ turns: number; result: T }> {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const result = await act();
  isOver = true;
  return { turns, result };
}
