// The search index: what blocks contain, what changes of lists leave, and that it can be built again.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { IndexChanges } from '../../db/search/additions.ts';
import {
  ByteWriter,
  firstPlace,
  mergeEntries,
  REMOVED,
  readEntries,
  removalOf,
  writeEntries,
} from '../../db/search/blocks.ts';
import { keyOfBytes } from '../../db/search/keys.ts';
import { mergeSome, mergeToRest, mergeUnread, mergeWhole } from '../../db/search/merges.ts';
import { entriesOf, packedList, packedLists, packedListsFrom, RowPacker } from '../../db/search/packing.ts';
import { findParts } from '../../db/search/parts.ts';
import {
  comparePlaces,
  idStart,
  LAST_PLACE,
  placeBytes,
  placeOfBytes,
  placeOfId,
  previousPlace,
  type SearchEntry,
} from '../../db/search/places.ts';
import { areThere, changeRun, findLiveRuns, findRuns, isLive } from '../../db/search/runs.ts';
import { beginBackfill, isFilled } from '../../db/tables/backfills.ts';
import { recordId } from '../../db/tables/record-id.ts';
import { startBackfills } from '../../server/backfills.ts';
import { startIndexing } from '../../server/index-updates.ts';
import { fail } from '../support/background.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { indexAll } from '../support/index-all.ts';
import { randomNumbers } from '../support/random.ts';
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

  test('a row has each of its lists, and those that begin in some way', () => {
    const name = fc.string({ unit: fc.constantFrom('a', 'b', '\xff'), minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 40 }), name, (names, sought) => {
        const packer = new RowPacker();
        for (const [ms, list] of names.sort().entries())
          packer.add(list, [{ ms, count: 1, resource: 0 }], true);
        packer.flush();
        const [row] = packer.rows;
        if (row === undefined) throw new Error('no row');
        const { list: first, bytes } = row;
        expect(packedLists(first, bytes).map(({ list }) => list)).toEqual(names);
        const begun = packedListsFrom(first, bytes, sought);
        expect(begun.map(({ list }) => list)).toEqual(names.filter((one) => one.startsWith(sought)));
        const wanted = [sought, ...names].map((one) => {
          const found = packedList(first, bytes, one);
          return found && entriesOf(found)[0]?.ms;
        });
        const places = [sought, ...names].map((one) => names.indexOf(one));
        expect(wanted).toEqual(places.map((at) => (at < 0 ? null : at)));
      }),
    );
  });

  test('a block contains what went into it', () => {
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1, maxLength: 300 }), (some) => {
        const entries = inOrder(some);
        const [first] = entries;
        if (first === undefined) return;
        const writer = new ByteWriter();
        const count = writeEntries(writer, entries, 0, 200);
        const bytes = writer.copy();
        expect(readEntries(bytes)).toEqual(entries.slice(0, count));
        expect(comparePlaces(firstPlace(bytes, 0), first)).toBe(0);
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

/** All entries of a list, as the runs say together. */
async function entriesIn(list: string): Promise<SearchEntry[]> {
  const { store, orgNumber } = harness;
  const ofRuns: SearchEntry[][] = [];
  for (const { run } of await findLiveRuns(store.read, orgNumber)) {
    const found: SearchEntry[] = [];
    for (let place = LAST_PLACE; ; ) {
      const [part] = await findParts(store.read, orgNumber, [{ run, list, place }]);
      if (part == null || comparePlaces(part.first, place) > 0) break;
      found.unshift(...part.entries.toEntries());
      if (part.first.ms === 0 && part.first.count === 0) break;
      place = previousPlace(part.first);
    }
    ofRuns.push(found);
  }
  return mergeEntries(ofRuns).filter(({ resource }) => resource !== REMOVED);
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
          for (const one of fresh) writing.add(one, name);
          for (const one of removed) writing.add(removalOf(one), name);
          await writing.save(trx, orgNumber);
        });
        const kept = expected.filter((one) => !removed.includes(one));
        expected = inOrder([...kept, ...fresh]);
        expect(await entriesIn(name)).toEqual(expected);
        await store.write(orgNumber, (trx) => mergeSome(trx, orgNumber));
        expect(await entriesIn(name)).toEqual(expected);
      }
    }),
    { numRuns: 20 },
  );
});

test('merging many runs, in many steps, changes no list; at the end nothing is left of what was removed', async () => {
  const { store, orgNumber } = harness;
  const names = ['n common', 't common', ...Array.from({ length: 3_000 }, (_, index) => `n rare ${index}`)];
  const expected = new Map<string, Map<number, SearchEntry>>();
  const random = randomNumbers(3);
  for (let run = 0; run < 40; run++) {
    const changes = new IndexChanges();
    for (let record = 0; record < 600; record++) {
      const one = { ms: 1_000 + record * 300 + Math.floor(random() * 300), count: run, resource: 2 };
      const mine = ['n common', names[Math.floor(random() * names.length)] ?? ''];
      for (const name of mine) changes.add(one, name);
      for (const name of mine)
        expected.getOrInsertComputed(name, () => new Map()).set(one.ms * 100 + run, one);
    }
    const [name = '', entries = new Map<number, SearchEntry>()] =
      [...expected][Math.floor(random() * expected.size)] ?? [];
    for (const [key, one] of [...entries].filter(() => random() < 0.3)) {
      if (one.count === run) continue;
      changes.add(removalOf(one), name);
      entries.delete(key);
    }
    await store.write(orgNumber, async (trx) => {
      await changes.save(trx, orgNumber);
      await mergeSome(trx, orgNumber);
    });
  }
  const check = async () => {
    for (const [name, entries] of [...expected].filter((_, index) => index % 97 === 0 || index < 2))
      expect(await entriesIn(name)).toEqual(inOrder([...entries.values()]));
  };
  await check();
  while (await store.write(orgNumber, (trx) => mergeSome(trx, orgNumber)));
  await check();
  expect((await findLiveRuns(store.read, orgNumber)).length).toBeLessThan(15);
  while (await store.write(orgNumber, (trx) => mergeWhole(trx, orgNumber)));
  await check();
  const runs = await findRuns(store.read, orgNumber);
  expect(runs.map(({ removals }) => removals)).toEqual([0]);
  const rows = await store.read.selectFrom('search_rows').selectAll().execute();
  const lists = rows.flatMap(({ key, entries }) => packedLists(keyOfBytes(key).list, entries));
  expect(lists.flatMap(entriesOf).filter(({ resource }) => resource === REMOVED)).toEqual([]);
}, 300_000);

test('a search does not count on a run whose rows are being removed', async () => {
  const { store, orgNumber, close } = await startHarness();
  const changes = new IndexChanges();
  for (let at = 0; at < 300_000; at++)
    changes.add({ ms: 10_000_000 * (at + 1), count: at, resource: 1 }, 'n many');
  await store.write(orgNumber, (trx) => changes.save(trx, orgNumber));
  const runs = await findLiveRuns(store.read, orgNumber);
  const areRead = () => areThere(store.read, orgNumber, runs);
  const rows = async () => (await store.read.selectFrom('search_rows').select('key').execute()).length;
  const [run] = await findRuns(store.read, orgNumber);
  if (run === undefined) throw new Error('no run');
  const before = await rows();
  // Merged a minute ago, and read by a search that began before.
  await store.write(orgNumber, (trx) => changeRun(trx, run, { gone_at: Date.now() - 60_000 }));
  expect(await areRead()).toBe(true);
  await store.write(orgNumber, (trx) => mergeSome(trx, orgNumber));
  const left = await rows();
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThan(before);
  expect(await areRead()).toBe(false);
  while (await store.write(orgNumber, (trx) => mergeSome(trx, orgNumber)));
  expect([await rows(), await areRead()]).toEqual([0, false]);
  await close();
}, 300_000);

test('at rest, every run but a small one has eight times the size of all newer ones together', async () => {
  const { store, orgNumber } = harness;
  const liveRuns = async () => (await findRuns(store.read, orgNumber)).filter(isLive);
  const random = randomNumbers(5);
  for (let round = 0; round < 30; round++) {
    // Of like sizes too, some below and some above those of which four become one.
    const size = round % 3 === 0 ? 20 : Math.floor(10 ** (1 + 3 * random()));
    for (let run = 0; run < 5; run++) {
      const changes = new IndexChanges();
      for (let at = 0; at < size; at++)
        changes.add(
          { ms: at, count: round * 5 + run, resource: 1 },
          `n rest ${Math.floor(random() * 5_000)}`,
        );
      await store.write(orgNumber, (trx) => changes.save(trx, orgNumber));
    }
    while (await store.write(orgNumber, (trx) => mergeToRest(trx, orgNumber)));
    let newer = 0;
    for (const [index, { bytes }] of (await liveRuns()).entries()) {
      if (index > 0) expect(bytes).toBeGreaterThanOrEqual(Math.max(65_536, 8 * newer));
      newer += bytes;
    }
  }
  expect((await liveRuns()).length).toBeGreaterThan(1);
}, 300_000);

test('where nobody searches, rows are removed as they are merged, and no list changes', async () => {
  const { store, orgNumber } = harness;
  const names = Array.from({ length: 2_000 }, (_, index) => `n of many ${String(index).padStart(4, '0')}`);
  const rowCount = async () => (await store.read.selectFrom('search_rows').select('key').execute()).length;
  for (let run = 0; run < 4; run++) {
    const changes = new IndexChanges();
    for (const [ms, name] of names.entries())
      for (let count = 0; count < 10; count++)
        changes.add({ ms, count: 10 * run + count, resource: 1 }, name);
    await store.write(orgNumber, (trx) => changes.save(trx, orgNumber));
  }
  const written = await rowCount();
  let most = 0;
  while (await store.write(orgNumber, (trx) => mergeUnread(trx, orgNumber)))
    most = Math.max(most, await rowCount());
  expect(most).toBeLessThan(1.5 * written);
  for (const name of names.filter((_, index) => index % 500 === 0)) {
    const entries = await entriesIn(name);
    expect(entries.map(({ count }) => count)).toEqual(Array.from({ length: 40 }, (_, count) => count));
  }
}, 300_000);

/** All lists with what they have. */
const listsOf = async (): Promise<Map<string, SearchEntry[]>> => {
  const rows = await harness.store.read.selectFrom('search_rows').selectAll().execute();
  const names = rows.flatMap(({ key, entries }) => packedLists(keyOfBytes(key).list, entries));
  const lists = new Map<string, SearchEntry[]>();
  for (const name of [...new Set(names.map(({ list }) => list))].sort()) {
    const entries = await entriesIn(name);
    if (entries.length > 0) lists.set(name, entries);
  }
  return lists;
};
const search = (q: string) => api.list(`/search?q=${encodeURIComponent(q)}`);
const updateIndex = () => indexAll(harness);

test('is built from what is there, as writes build it, while others write; until then a request is refused for some time', async () => {
  const { store, orgNumber } = harness;
  await store.write(orgNumber, (trx) => trx.deleteFrom('search_runs').execute());
  await store.write(orgNumber, (trx) => trx.deleteFrom('search_rows').execute());
  await api.batch(
    '/contacts/batch',
    Array.from({ length: 60 }, (_, index) => ({ first_name: 'Rosa', title: `T${index}` })),
  );
  await api.create('notes', { title: 'Rosa', content: 'her note' });
  await insertTranscribed(harness, { title: 'Rosa' });
  await updateIndex();
  const before = await listsOf();
  await store.write(orgNumber, (trx) => beginBackfill(trx, orgNumber, 'search'));
  const refused = await api.get('/search?q=rosa');
  expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '10']);
  const backfills = startBackfills(store, fail);
  await until(() => isFilled(store.read, orgNumber, 'search'));
  await backfills.stop();
  expect(await listsOf()).toEqual(before);
  expect(await search('rosa note')).toHaveLength(1);
}, 300_000);

test('a server indexes what is written, and stops at once', async () => {
  const { store } = harness;
  const { id } = await api.create('contacts', { first_name: 'Wilhelmine' });
  const indexing = startIndexing(store, fail);
  await until(
    async () => (await store.read.selectFrom('search_pending').select('id').execute()).length === 0,
  );
  await indexing.stop();
  expect((await entriesIn('nwilhelmine')).map(idStart)).toEqual([id.slice(0, 26)]);
  await api.update('contacts', id, { first_name: 'Mina' });
  await updateIndex();
  expect(await entriesIn('nwilhelmine')).toEqual([]);
  expect(await entriesIn('nmina')).toHaveLength(1);
  await api.del(`/contacts/${id}`);
  await updateIndex();
  expect(await entriesIn('nmina')).toEqual([]);
});

test('what a piece sees of changes that only the next one knows leaves nothing wrong', async () => {
  await updateIndex();
  const texts = ['Ottilie', 'Quist', 'Ottilie Quist', 'Zed', 'Zed', 'Zed'];
  const { id } = await api.create('contacts', { first_name: 'Ottilie', last_name: 'Quist', title: 'Quist' });
  const random = randomNumbers(7);
  const change = () => {
    const field = ['first_name', 'last_name', 'title'][Math.floor(3 * random())] ?? '';
    return api.update('contacts', id, { [field]: texts[Math.floor(texts.length * random())] });
  };
  // Each piece contains so many records at most.
  const others = Array.from({ length: 100 }, () => ({ title: 'Filler' }));
  const pieces: string[][] = [];
  for (let at = 0; at < 25; at++) {
    await change();
    for (let batch = 0; batch < 5; batch++) await api.batch('/notes/batch', others);
    await change();
    await change();
    await updateIndex();
    const row = await api.get(`/contacts/${id}`);
    const names = ['ottilie', 'quist'].flatMap((word) => {
      const isNamed = `${row.body.data.first_name} ${row.body.data.last_name}`.toLowerCase().includes(word);
      const isThere = isNamed || row.body.data.title.toLowerCase().includes(word);
      return isThere ? [`${isNamed ? 'n' : 't'}${word}`] : [];
    });
    const found: string[] = [];
    for (const list of ['nottilie', 'nquist', 'tottilie', 'tquist'])
      if ((await entriesIn(list)).some((one) => idStart(one) === id.slice(0, 26))) found.push(list);
    expect(found.toSorted()).toEqual(names.toSorted());
    pieces.push(found);
  }
  expect(new Set(pieces.map(String)).size).toBeGreaterThan(1);
}, 300_000);

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
