// The search index: what blocks contain, what changes of lists leave, and that it can be built again.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { beginBackfill, isFilled } from '../../db/tables/backfills.ts';
import { recordId } from '../../db/tables/record-id.ts';
import { decodeBlock, encodeEntries, lastPlace } from '../../db/tables/search-blocks.ts';
import { IndexChanges } from '../../db/tables/search-index.ts';
import { findBlocks, readBlock } from '../../db/tables/search-lists.ts';
import {
  comparePlaces,
  idStart,
  LAST_PLACE,
  placeBytes,
  placeOfBytes,
  placeOfId,
  previousPlace,
  type SearchEntry,
} from '../../db/tables/search-places.ts';
import { startBackfills } from '../../server/backfills.ts';
import { IndexUpdates, startIndexing } from '../../server/index-updates.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { insertTranscribed } from '../support/read-only.ts';
import { until } from '../support/until.ts';
import { type Client, clientOf } from '../support/v2.ts';

const entry: fc.Arbitrary<SearchEntry> = fc.record({
  ms: fc.oneof(fc.integer({ min: 0, max: 2 ** 48 - 1 }), fc.integer({ min: 5, max: 9 })),
  count: fc.oneof(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.integer({ min: 0, max: 20 })),
  resource: fc.integer({ min: 0, max: 8 }),
});
const inOrder = (some: readonly SearchEntry[]) => {
  const byPlace = new Map(some.map((one) => [`${one.ms} ${one.count}`, one]));
  return [...byPlace.values()].sort(comparePlaces);
};

describe('places and blocks', () => {
  test('an ID has its place, and the place the beginning of the ID', () => {
    const ids = Array.from({ length: 50 }, (_, index) => recordId(Date.UTC(2026, 0, 1) + index));
    for (const id of ids) expect(id.startsWith(idStart(placeOfId(id)))).toBe(true);
    expect(ids.map(placeOfId).toSorted(comparePlaces)).toEqual(ids.map(placeOfId));
  });

  test('bytes of places are in their order', () => {
    fc.assert(
      fc.property(entry, entry, (one, other) => {
        expect(placeOfBytes(placeBytes(one))).toEqual({ ms: one.ms, count: one.count });
        const sign = Math.sign(Buffer.compare(placeBytes(one), placeBytes(other)));
        expect(sign).toBe(Math.sign(comparePlaces(one, other)));
        expect(comparePlaces(previousPlace(one), one)).toBeLessThanOrEqual(0);
      }),
    );
  });

  test('a block contains what went into it', () => {
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1, maxLength: 300 }), (some) => {
        const entries = inOrder(some);
        const [first] = entries;
        if (first === undefined) return;
        const { bytes, count } = encodeEntries(entries, first, 0, 200);
        expect(decodeBlock(first, bytes)).toEqual(entries.slice(0, count));
        expect(comparePlaces(lastPlace(first, bytes), entries[count - 1] ?? first)).toBe(0);
      }),
    );
  });
});

let harness: Harness;
let api: Client;
beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

/** All entries of a list, from the newest block to the oldest. */
async function entriesOf(list: string): Promise<SearchEntry[]> {
  const found: SearchEntry[] = [];
  for (let at = LAST_PLACE; ; ) {
    const [block] = await findBlocks(harness.store.read, harness.orgNumber, [[list, at]]);
    if (block === undefined) return found;
    found.unshift(...readBlock(block).entries);
    if (block.first.ms === 0 && block.first.count === 0) return found;
    at = previousPlace(block.first);
  }
}

test('lists have what was added and not removed, in whatever order', async () => {
  const { store, orgNumber } = harness;
  const change = fc.record({
    added: fc.array(entry, { maxLength: 150 }),
    removes: fc.integer({ min: 0, max: 3 }),
  });
  let list = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
      list += 1;
      const name = `n list ${list}`;
      let expected: SearchEntry[] = [];
      for (const { added, removes } of changes) {
        const removed = expected.filter((_, index) => index % 4 < removes);
        const fresh = inOrder(added).filter((one) => !removed.some((gone) => comparePlaces(gone, one) === 0));
        await store.write(orgNumber, async (trx) => {
          const writing = new IndexChanges();
          for (const one of fresh) writing.add(one, [name]);
          for (const one of removed) writing.remove(one, [name]);
          await writing.save(trx, orgNumber);
        });
        const kept = expected.filter((one) => !removed.includes(one));
        expected = inOrder([...kept, ...fresh]);
        expect(await entriesOf(name)).toEqual(expected);
      }
    }),
    { numRuns: 20 },
  );
});

const rowsOf = async (): Promise<unknown[]> => {
  const rows = await harness.store.read
    .selectFrom('search_words')
    .selectAll()
    .orderBy('word')
    .orderBy('first')
    .execute();
  return rows.map(({ word, first, entries }) => [
    Buffer.from(word).toString(),
    Buffer.from(first).toHex(),
    Buffer.from(entries).toHex(),
  ]);
};
const search = (q: string) => api.list(`/search?q=${encodeURIComponent(q)}`);
const updateIndex = () => new IndexUpdates(harness.store).update(harness.orgNumber);

test('is built from what is there, as writes build it, while others write; until then a request is refused for some time', async () => {
  const { store, orgNumber } = harness;
  await store.write(orgNumber, (trx) => trx.deleteFrom('search_words').execute());
  await api.batch(
    '/contacts/batch',
    Array.from({ length: 60 }, (_, index) => ({ first_name: 'Rosa', title: `T${index}` })),
  );
  await api.create('notes', { title: 'Rosa', content: 'her note' });
  await insertTranscribed(harness, { title: 'Rosa' });
  await updateIndex();
  const before = await rowsOf();
  await store.write(orgNumber, (trx) => beginBackfill(trx, orgNumber, 'search'));
  const refused = await api.get('/search?q=rosa');
  expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '10']);
  const backfills = startBackfills(store);
  await until(() => isFilled(store.read, orgNumber, 'search'));
  await backfills.stop();
  expect(await rowsOf()).toEqual(before);
  expect(await search('rosa note')).toHaveLength(1);
}, 30_000);

test('a server indexes what is written, and stops at once', async () => {
  const { store } = harness;
  const { id } = await api.create('contacts', { first_name: 'Wilhelmine' });
  const indexing = startIndexing(store);
  await until(
    async () => (await store.read.selectFrom('search_pending').select('id').execute()).length === 0,
  );
  await indexing.stop();
  expect((await entriesOf('nwilhelmine')).map(idStart)).toEqual([id.slice(0, 26)]);
  await api.update('contacts', id, { first_name: 'Mina' });
  await updateIndex();
  expect(await entriesOf('nwilhelmine')).toEqual([]);
  expect(await entriesOf('nmina')).toHaveLength(1);
  await api.del(`/contacts/${id}`);
  await updateIndex();
  expect(await entriesOf('nmina')).toEqual([]);
});

test('a write that is undone leaves nothing to index', async () => {
  await updateIndex();
  const dry = await harness.send('POST', '/api/v2/contacts', {
    body: { first_name: 'Nobody' },
    headers: { 'Dry-Run': 'true' },
  });
  expect(dry.status).toBe(201);
  const faulty = await api.batch('/contacts/batch', [{ email: 'x' }, { first_name: 'One' }]);
  expect(faulty.summary).toBeDefined();
  const rows = await harness.store.read.selectFrom('search_pending').select('records').execute();
  expect(rows).toEqual([{ records: 1 }]);
});
