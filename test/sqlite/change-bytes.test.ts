// What the log of changes takes of a file, with its index.
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect } from 'bun:test';
import { isPostgres } from '../support/fresh-databases.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { test } from '../support/on-sqlite.ts';
import { type Client, clientOf } from '../support/v2.ts';

const COUNT = 600;
const BATCH = 100;
const SIZE = `select sum(pgsize) as bytes from dbstat where aggregate = true
  and name in (select name from sqlite_schema where tbl_name = 'changes')`;

let harness: Harness;
let api: Client;
beforeAll(async () => {
  if (isPostgres) return;
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness?.close());

function bytes(): number {
  using db = new Database(harness.dbPath, { readonly: true });
  return db.query<{ bytes: number }, []>(SIZE).get()?.bytes ?? 0;
}

/** Bytes that work adds to the log, for each of so many records. */
async function bytesEach(count: number, work: () => Promise<unknown>): Promise<number> {
  const before = bytes();
  await work();
  return (bytes() - before) / count;
}

const contact = () => ({ first_name: 'Ada', owner_id: harness.alice });
let made: Json[] = [];

test('a create takes at most 120 bytes', async () => {
  const each = await bytesEach(COUNT, async () => {
    for (let index = 0; index < COUNT; index++) await api.create('contacts', contact());
  });
  expect(each).toBeGreaterThan(40);
  expect(each).toBeLessThan(120);
});

const BATCHES: [string, number, (index: number) => Json][] = [
  ['of one owner takes at most 25', 25, contact],
  [
    'of several owners at most 60',
    60,
    (index) => ({ ...contact(), owner_id: index % 2 ? harness.bob : null }),
  ],
];
test.each(BATCHES)('one of a batch %s', async (_, most, body) => {
  const each = await bytesEach(20 * BATCH, async () => {
    for (let count = 0; count < 20; count++) {
      const items = Array.from({ length: BATCH }, (_, index) => body(index));
      made = (await api.post('/contacts/batch', items)).body.data.items.map(({ data }: Json) => data);
    }
  });
  expect(each).toBeGreaterThan(15);
  expect(each).toBeLessThan(most);
});

test('an update takes at most 220 with the two values of a field, and its place in the index', async () => {
  const each = await bytesEach(COUNT, async () => {
    for (let index = 0; index < COUNT; index++)
      await api.update('contacts', made[index % made.length]?.id, { title: `Engineer ${index}` });
  });
  expect(each).toBeGreaterThan(100);
  expect(each).toBeLessThan(220);
});
