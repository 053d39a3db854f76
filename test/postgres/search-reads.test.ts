// How a search reads on PostgreSQL: in few ways to the server and back, and little where the server knows no values of a column.
import { afterAll, beforeAll, expect } from 'bun:test';
import { sql } from 'kysely';
import { getResource } from '../../db/model/resources/registry.ts';
import { queryOf } from '../../db/model/search-query.ts';
import { SEARCHED_RESOURCES } from '../../db/model/searched.ts';
import { IndexChanges } from '../../db/search/additions.ts';
import { compareIndex } from '../../db/search/check.ts';
import { findIdentified } from '../../db/search/identified.ts';
import { keptLists } from '../../db/search/kept.ts';
import { findParts, findPartsWithin, RANGE_PARTS_MAX } from '../../db/search/parts.ts';
import { findRuns } from '../../db/search/runs.ts';
import { recordId } from '../../db/tables/record-id.ts';
import { searchRecords } from '../../server/search/search.ts';
import { isPostgres } from '../support/fresh-databases.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { indexAll } from '../support/index-all.ts';
import { test } from '../support/on-postgres.ts';
import { wavesOf } from '../support/statement-log.ts';
import { clientOf } from '../support/v2.ts';

const ROWS = 20_000;
// What is found, and a few entries of indexes.
const READ_MAX = 20;
// After five times a session may keep the plan of a statement.
const TIMES_UNTIL_KEPT = 6;

// IDs are numbered, and lists have their numbers: after these they take the same bytes, whatever ran before in this process.
const IDS_BEFORE = 20_000;

let harness: Harness;
beforeAll(async () => {
  if (!isPostgres) return;
  for (let made = 0; made < IDS_BEFORE; made++) recordId(0);
  harness = await startHarness();
});
afterAll(() => harness?.close());

const readSoFar = sql<{ read: number }>`
  select sum(pg_stat_get_xact_tuples_returned(oid))::bigint as read from pg_class
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'i')`;

test('a query that identifies nothing does not go through interactions, none of which has an ID of another system', async () => {
  const { store, orgNumber } = harness;
  await store.write(orgNumber, async (trx) => {
    await sql`set local statement_timeout = 0`.execute(trx);
    await sql`insert into interactions (org_id, id, created_by, created_at, updated_at)
      select ${orgNumber}, lpad(to_hex(n), 8, '0') || '-0000-7000-8000-000000000000', 'k', n, n
      from generate_series(1, ${sql.lit(ROWS)}) as n`.execute(trx);
    await sql`analyze interactions`.execute(trx);
  });
  await store.write(orgNumber, async (trx) => {
    for (let times = 0; times < TIMES_UNTIL_KEPT; times++) {
      const before = (await readSoFar.execute(trx)).rows[0]?.read ?? 0;
      const found = await findIdentified(trx, orgNumber, {
        ...{ externalIds: ['absent'], email: null, domain: null, foreignId: 'absent' },
        ...{ last: 'g', limit: 21 },
      });
      const after = (await readSoFar.execute(trx)).rows[0]?.read ?? 0;
      expect(found).toEqual([]);
      expect(after - before).toBeLessThanOrEqual(READ_MAX);
    }
    // To plan it takes ten times as long as to run it.
    const plans = await sql<{ kept: number }>`select generic_plans as kept from pg_prepared_statements
      where statement like '%from external_ids%'`.execute(trx);
    expect(plans.rows.map(({ kept }) => kept)).toEqual([1]);
  });
});

test('a range of a list has the parts that its places have, the first of many if they are many', async () => {
  const { store, orgNumber } = harness;
  const list = 'n of a range';
  const changes = new IndexChanges();
  for (let at = 0; at < 40_000; at++)
    changes.add({ ms: 10_000_000 * (at + 1), count: at, resource: 1 }, list);
  for (const name of ['n of a', 'n of a rangf']) changes.add({ ms: 1, count: 1, resource: 1 }, name);
  await store.write(orgNumber, (trx) => changes.save(trx, orgNumber));
  const [newest] = await findRuns(store.read, orgNumber);
  const run = newest?.run ?? 0;
  const placeAt = (at: number) => ({ ms: 10_000_000 * at + 5, count: 0 });
  for (const [from, downTo, isCut] of [
    [40_000, 39_000, false],
    [20_500, 20_499, false],
    [300, 0, false],
    [40_000, 0, true],
  ] as const) {
    const range = { run, list, place: placeAt(from), downTo: placeAt(downTo) };
    const [parts = []] = await findPartsWithin(store.read, orgNumber, [range]);
    const places = Array.from({ length: from - downTo + 1 }, (_, index) => placeAt(from - index));
    const byPlace = await findParts(
      store.read,
      orgNumber,
      places.map((place) => ({ run, list, place })),
    );
    const expected = [...new Map(byPlace.flatMap((part) => (part ? [[part.first.ms, part]] : [])))].map(
      ([, part]) => part.entries.toEntries(),
    );
    expect(parts.map((part) => part.entries.toEntries())).toEqual(expected.slice(0, RANGE_PARTS_MAX));
    expect(expected.length > RANGE_PARTS_MAX).toBe(isCut);
  }
});

const FIRST_NAMES = ['Ada', 'Grace', 'Mary', 'Alan'];
const LAST_NAMES = ['Lovelace', 'Hopper', 'Jackson', 'Turing', 'Noether'];
// As many as one part of a list takes.
const BATCHES = 6;

const contact = (index: number) => ({
  first_name: FIRST_NAMES[index % FIRST_NAMES.length],
  last_name: LAST_NAMES[index % LAST_NAMES.length],
  email: `person${index}@engines.example`,
  phone: `+44 20 7946 ${1_000 + index}`,
});

/** Forgets what searches have read of the index. */
const forget = () => keptLists(harness.store.read).forget();

interface Searched {
  /** How many waves of statements it took. */
  waves: number;
  /** How many of the statements read lists of the index. */
  listReads: number;
  /** How many records were found. */
  items: number;
}

/** The number of records on the first page of a search. */
async function countFound(q: string, userId: string | null = null): Promise<number> {
  const read = queryOf(q);
  if ('faults' in read) throw new Error('no query');
  const access = {
    ...{ orgNumber: harness.orgNumber, organizationId: null, userId, level: 'organization' as const },
    ...{ keyId: '', keyNumber: 0, scopes: new Set<string>(), bodyBytesMax: null },
    requestsPerMinute: { key: null, organization: null },
  };
  const searcher = { db: harness.store.read, access, updateIndex: () => Promise.reject(new Error('behind')) };
  const resources = SEARCHED_RESOURCES.map(getResource);
  const request = { query: read.query, resources, after: null, limit: 20 };
  return (await searchRecords(searcher, request)).items.length;
}

/** What a search takes and finds. */
async function searchFor(q: string, userId: string | null = null): Promise<Searched> {
  let items = 0;
  const waves = await wavesOf(async () => {
    items = await countFound(q, userId);
  });
  const listReads = waves.flat().filter((text) => text.includes('search_rows')).length;
  return { waves: waves.length, listReads, items };
}

/** The ways and the records of a search that nobody has made before. */
async function searched(q: string, userId: string | null = null): Promise<Pick<Searched, 'waves' | 'items'>> {
  forget();
  const { waves, items } = await searchFor(q, userId);
  return { waves, items };
}

// The state of the index, what is identified, and what all tiers need first; the records, and whether all runs are there.
const FEWEST = 2;

/** Has connections opened, and statements prepared. */
async function warmUp(): Promise<void> {
  for (let times = 0; times < 3; times++) await searched('ada lovelace');
}

/** Creates the batches of contacts with these numbers, the last of which is left out. */
async function create(from: number, to: number): Promise<void> {
  const api = clientOf(harness);
  for (let batch = from; batch < to; batch++) {
    const items = Array.from({ length: 100 }, (_, index) => contact(100 * batch + index));
    await api.batch('/contacts/batch', items);
  }
}

test('a search takes few ways to the server, however it finds what it finds', async () => {
  await create(0, BATCHES);
  await clientOf(harness).create('notes', { title: 'Engine', content: 'Difference of the analytical kind' });
  await indexAll(harness);
  await warmUp();
  expect(await searched('absent')).toEqual({ waves: FEWEST, items: 0 });
  expect(await searched('analytical')).toEqual({ waves: FEWEST, items: 1 });
  expect(await searched('lovelace')).toEqual({ waves: FEWEST, items: 20 });
  expect(await searched('person7@engines.example')).toEqual({ waves: FEWEST + 1, items: 1 });
  expect(await searched('+44 20 7946 1012')).toEqual({ waves: FEWEST, items: 1 });
  expect(await searched('engines.example')).toEqual({ waves: FEWEST, items: 20 });
  expect(await searched('mary absent')).toEqual({ waves: FEWEST, items: 0 });
  expect(await searched('turing', harness.alice)).toEqual({ waves: FEWEST, items: 0 });
  // Of two common words, what has the one is looked up in the list of the other; here there are parts of lists to read besides.
  expect(await searched('ada lovelace')).toEqual({ waves: FEWEST + 2, items: 20 });
  // Nor is a long list looked at that only begins in some way, where another word has few records.
  await create(BATCHES, 3 * BATCHES);
  await indexAll(harness);
  expect(await searched('person7@engines.example')).toEqual({ waves: FEWEST + 1, items: 1 });
});

test('where the newest part of a list has too little for a page, the one before it is read, and its records', async () => {
  await harness.close();
  harness = await startHarness();
  await create(0, BATCHES + 2);
  await indexAll(harness);
  await warmUp();
  const { waves, items } = await searched('engines.example');
  expect(items).toBe(20);
  // More than the fewest, or no part was too short.
  expect(waves).toBeWithin(FEWEST + 1, FEWEST + 4);
});

test('what searches have read of the index is not read again, not even whether it is still there', async () => {
  for (const q of [
    'ada lovelace',
    'person7@engines.example',
    'engines.example',
    'absent',
    '+44 20 7946 1012',
  ]) {
    forget();
    const first = await searchFor(q);
    const again = await searchFor(q);
    expect([q, first.listReads > 0, again.listReads]).toEqual([q, true, 0]);
    expect([q, again.items]).toEqual([q, first.items]);
    expect(again.waves).toBeLessThanOrEqual(first.waves);
  }
  // The state of the index, and the records.
  for (const [q, waves] of [
    ['person7@engines.example', FEWEST],
    ['absent', FEWEST - 1],
  ] as const) {
    await searchFor(q);
    expect([q, (await searchFor(q)).waves]).toEqual([q, waves]);
  }
});

test('searches that read the same at the same time find the same', async () => {
  const queries = ['lov', 'engines', 'pe', 'ada lo', 'person1', 'mary', 'lovelace'];
  const alone: number[] = [];
  for (const q of queries) {
    forget();
    alone.push(await countFound(q));
  }
  expect(queries.filter((_, at) => alone[at] === 0)).toEqual([]);
  for (let time = 0; time < 3; time++) {
    forget();
    const many = [...queries, ...queries, ...queries];
    expect(await Promise.all(many.map((q) => countFound(q)))).toEqual([...alone, ...alone, ...alone]);
  }
});

test('what a new run has is found beside what is kept of the others', async () => {
  expect((await searchFor('somerville')).items).toBe(0);
  const { id } = await clientOf(harness).create('contacts', { first_name: 'Mary', last_name: 'Somerville' });
  await indexAll(harness);
  expect((await searchFor('somerville')).items).toBe(1);
  await harness.send('PATCH', `/api/v2/contacts/${id}`, { body: { last_name: 'Fairfax' } });
  await indexAll(harness);
  expect((await searchFor('somerville')).items).toBe(0);
  expect((await searchFor('fairfax')).items).toBe(1);
});

test('a run with the number and the places of one that was kept is not taken for it', async () => {
  await harness.close();
  harness = await startHarness();
  const { store, orgNumber } = harness;
  const { id } = await clientOf(harness).create('contacts', { last_name: 'Zuse' });
  await indexAll(harness);
  const runsNow = async () =>
    (await findRuns(store.read, orgNumber)).map(({ run, low, high }) => [run, low, high]);
  const before = await runsNow();
  expect((await searchFor('zuse')).items).toBe(1);
  expect((await searchFor('hamilton')).items).toBe(0);
  await store.write(orgNumber, async (trx) => {
    await sql`delete from search_rows`.execute(trx);
    await sql`delete from search_runs`.execute(trx);
  });
  await harness.send('PATCH', `/api/v2/contacts/${id}`, { body: { last_name: 'Hamilton' } });
  await indexAll(harness);
  expect(await runsNow()).toEqual(before);
  expect((await searchFor('hamilton')).items).toBe(1);
});

test('a word before all that a newer run has is found in an older run whose last row has it', async () => {
  await harness.close();
  harness = await startHarness();
  const { store, orgNumber } = harness;
  const api = clientOf(harness);
  await api.create('contacts', { first_name: 'Ada', last_name: 'Lovelace' });
  const { id } = await api.create('contacts', { first_name: 'Grace', last_name: 'Hopper' });
  await indexAll(harness);
  await harness.send('PATCH', `/api/v2/contacts/${id}`, { body: { last_name: 'Murray' } });
  await indexAll(harness);
  expect(await findRuns(store.read, orgNumber)).toHaveLength(2);
  for (const q of ['ada', 'ada lovelace', 'grace', 'murray'])
    expect([q, await countFound(q)]).toEqual([q, 1]);
  expect(await compareIndex(store.read, orgNumber)).toEqual({ records: expect.any(Number), faulty: 0 });
});
