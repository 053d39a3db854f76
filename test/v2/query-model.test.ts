// Queries agree with a plain model: the same records in the same order, over pages, for any filter and any key.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { listUsers } from '../../db/accounts/accounts.ts';
import { findKey } from '../../db/accounts/keys.ts';
import { readFilter } from '../../db/model/query/filter.ts';
import { getQuerySort } from '../../db/model/query/sorts.ts';
import { getResource } from '../../db/model/resources/registry.ts';
import { countRecords, findQueryPage } from '../../db/queries/run-query.ts';
import { type Access, accessOfKey } from '../../server/access.ts';
import { visibleQuery } from '../../server/records/queries.ts';
import { countAnsweredRows } from '../support/answered-rows.ts';
import { expectIncluded } from '../support/expect-included.ts';
import { isPostgres } from '../support/fresh-databases.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { FILTERED_FIELDS, sortsOf } from '../support/query-contract.ts';
import { UntriedQueries } from '../support/query-coverage.ts';
import { validFilter } from '../support/query-filters.ts';
import { query, type Seen } from '../support/query-model.ts';
import { makeQueryWorld, type QueryWorld, seenBy } from '../support/query-world.ts';
import { randomNumbers } from '../support/random.ts';
import { INCLUDES, type Listed, listEverything } from '../support/related-records.ts';
import { type Client, clientOf } from '../support/v2.ts';

/** Filters of each run; half as many on PostgreSQL, where each takes longer. */
const QUERIES = Number(process.env.QUERY_FILTERS ?? (isPostgres ? 150 : 300));
const SEED = Number(process.env.QUERY_SEED ?? 1);
const SCALE = Number(process.env.QUERY_SCALE ?? 30);
/** With so many, every combination of a kind of field, an operator and a field to sort by comes up. */
const WHOLE = 5_000;
const HOUR_MS = 3_600_000;
// Half of the records that there are of a resource, or less.
const EXAMINED_MAX = 25;
// What a request can examine besides: what leads to few records, those few, and the links of the first record.
const BESIDES_MAX = 200;

interface Asker {
  api: Client;
  access: Access;
  seen: Seen;
  listed: Listed;
}

let harness: Harness;
let world: QueryWorld;
let all: Asker;
let own: Asker;
const rows = countAnsweredRows();

beforeAll(async () => {
  harness = await startHarness();
  const api = clientOf(harness);
  world = await makeQueryWorld(harness, randomNumbers(SEED), SCALE);
  const found = await listUsers(harness.store.read, harness.orgNumber);
  const users = found.map(({ id, email, name }) => ({ id, email, name }));
  const asker = async (userId: string | null): Promise<Asker> => {
    const { key, id } = await harness.issue({ userId });
    const row = await findKey(harness.store.read, id);
    if (row === undefined) throw new Error('the key is not there');
    const client = clientOf(harness, key);
    const [seen, listed] = [await seenBy(client, api), await listEverything(client, users)];
    return { api: client, access: accessOfKey(row), seen, listed };
  };
  all = await asker(null);
  own = await asker(harness.alice);
}, HOUR_MS);
afterAll(async () => {
  rows[Symbol.dispose]();
  await harness.close();
});

// Those with more orders come up more often.
const RESOURCES = Object.keys(FILTERED_FIELDS).flatMap((resource) => sortsOf(resource).map(() => resource));

const asked = () =>
  fc.constantFrom(...RESOURCES).chain((resource) =>
    fc.record({
      resource: fc.constant(resource),
      filter: validFilter(world, all.seen, resource),
      sort_by: fc.constantFrom(...sortsOf(resource)),
      sort_direction: fc.constantFrom('asc', 'desc'),
      limit: fc.oneof(fc.constantFrom(1, 7, 50, 200), fc.integer({ min: 1, max: 200 })),
      fields: fc.option(fc.subarray(Object.keys(all.seen.records[resource]?.[0] ?? {}))),
      include: fc.option(
        fc.subarray(Object.keys(INCLUDES[resource] ?? {})).map((names) => names.slice(0, 5)),
      ),
      isOwn: fc.boolean(),
    }),
  );

/** The records of all pages of a query, with what each page includes looked at. */
async function pagesOf({ api, listed }: Asker, resource: string, body: Json): Promise<Json[]> {
  const found: Json[] = [];
  for (let cursor: Json = {}; ; ) {
    const reply = await api.post(`/${resource}/query`, { ...body, ...cursor });
    if (reply.status !== 200) throw new Error(reply.text);
    const { data, page_info } = reply.body;
    expect(data.length).toBeLessThanOrEqual(body.limit);
    found.push(...(body.include === undefined ? data : included(listed, resource, body, reply.body)));
    if (!page_info.has_next_page) return found;
    cursor = { cursor: page_info.end_cursor };
  }
}

// With all fields of each record, by which it is known what belongs to it.
function included(listed: Listed, resource: string, { include }: Json, body: Json): Json[] {
  const known = new Map((listed.records[resource] ?? []).map((record) => [record.id, record]));
  const whole = body.data.map((one: Json) => ({ ...known.get(one.id), included_ids: one.included_ids }));
  expectIncluded(listed, resource, include, { ...body, data: whole });
  return body.data.map(({ included_ids: _, ...record }: Json) => record);
}

function withFields(record: Json, fields: string[] | undefined): Json {
  if (fields === undefined) return record;
  return Object.fromEntries(
    Object.entries(record).filter(([name]) => name === 'id' || fields.includes(name)),
  );
}

test(
  `${QUERIES} filters`,
  async () => {
    const untried = new UntriedQueries();
    let found = 0;
    await fc.assert(
      fc.asyncProperty(asked(), async ({ resource, isOwn, fields, include, ...body }) => {
        const asker = isOwn ? own : all;
        const { now } = harness.clock;
        const expected = query(asker.seen, resource, body, now);
        // A page of one only where there are few.
        const limit = expected.length > 10 ? Math.max(body.limit, 7) : body.limit;
        const selected = {
          ...(fields !== null && fields.length > 0 && { fields }),
          ...(include !== null && include.length > 0 && { include }),
        };
        const pages = await pagesOf(asker, resource, { ...body, ...selected, limit });
        expect(pages).toEqual(expected.map((record) => withFields(record, selected.fields)));
        const counted = await asker.api.post(`/${resource}/count`, { filter: body.filter });
        expect(counted.body.data).toEqual({ count: expected.length, is_exact: true });
        untried.tried(resource, body);
        found += expected.length;
      }),
      { seed: SEED, numRuns: QUERIES },
    );
    expect(found).toBeGreaterThan(QUERIES);
    if (QUERIES >= WHOLE) expect(untried.left).toEqual([]);
  },
  HOUR_MS,
);

// By the rows that the database answers with, too: there are no fewer entries than that.
test(
  'pages end where a request has examined what it may, and the next one goes on',
  async () => {
    const { read } = harness.store;
    let endedEarly = 0;
    await fc.assert(
      fc.asyncProperty(asked(), async ({ resource, isOwn, limit, ...body }) => {
        const { access, seen } = isOwn ? own : all;
        const { now } = harness.clock;
        const expected = query(seen, resource, body, now).map(({ id }) => id);
        const declared = getResource(resource);
        const { filter } = readFilter(declared, body.filter, now);
        const about = await visibleQuery({ db: read, access }, declared, filter);
        const order = {
          sort: getQuerySort(declared, body.sort_by),
          direction: body.sort_direction === 'asc' ? ('asc' as const) : ('desc' as const),
        };
        const found: string[] = [];
        for (let after: Json = null; ; ) {
          const before = rows.count;
          const page = await findQueryPage(read, { ...about, ...order, after, limit }, EXAMINED_MAX);
          expect(page.examined).toBeLessThanOrEqual(EXAMINED_MAX + BESIDES_MAX);
          expect(rows.count - before).toBeLessThanOrEqual(page.examined);
          found.push(...page.places.map(({ id }) => id));
          if (page.next === null) break;
          if (page.places.length < limit) endedEarly += 1;
          after = page.next;
        }
        expect(found).toEqual(expected);
        const counted = await countRecords(read, about, EXAMINED_MAX);
        expect(counted.examined).toBeLessThanOrEqual(EXAMINED_MAX + BESIDES_MAX);
        if (counted.isExact) expect(counted.count).toBe(expected.length);
        else expect(counted.count).toBeLessThanOrEqual(expected.length);
      }),
      { seed: SEED, numRuns: Math.ceil(QUERIES / 2) },
    );
    expect(endedEarly).toBeGreaterThan(QUERIES / 20);
  },
  HOUR_MS,
);
