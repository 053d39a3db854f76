// Queries agree with a plain model: the same records in the same order, over pages, for any filter and any key.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { isPostgres } from '../support/fresh-databases.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { FILTERED_FIELDS, sortsOf } from '../support/query-contract.ts';
import { validFilter } from '../support/query-filters.ts';
import { query, type Seen } from '../support/query-model.ts';
import { makeQueryWorld, type QueryWorld, seenBy } from '../support/query-world.ts';
import { randomNumbers } from '../support/random.ts';
import { type Client, clientOf } from '../support/v2.ts';

/** Filters of each run; half as many on PostgreSQL, where each takes longer. */
const QUERIES = Number(process.env.QUERY_FILTERS ?? (isPostgres ? 150 : 300));
const SEED = Number(process.env.QUERY_SEED ?? 1);
const SCALE = Number(process.env.QUERY_SCALE ?? 30);
const HOUR_MS = 3_600_000;

let harness: Harness;
let world: QueryWorld;
let all: { api: Client; seen: Seen };
let own: { api: Client; seen: Seen };

beforeAll(async () => {
  harness = await startHarness();
  const api = clientOf(harness);
  world = await makeQueryWorld(harness, randomNumbers(SEED), SCALE);
  const bound = await api.withKey({ userId: harness.alice });
  all = { api, seen: await seenBy(api, api) };
  own = { api: bound, seen: await seenBy(bound, api) };
}, HOUR_MS);
afterAll(() => harness.close());

const asked = () =>
  fc.constantFrom(...Object.keys(FILTERED_FIELDS)).chain((resource) =>
    fc.record({
      resource: fc.constant(resource),
      filter: validFilter(world, all.seen, resource),
      sort_by: fc.constantFrom(...sortsOf(resource)),
      sort_direction: fc.constantFrom('asc', 'desc'),
      limit: fc.constantFrom(1, 7, 50, 200),
      isOwn: fc.boolean(),
    }),
  );

/** All pages of a query. */
async function pagesOf(api: Client, resource: string, body: Json): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: Json = {}; ; ) {
    const reply = await api.post(`/${resource}/query`, { ...body, ...cursor });
    if (reply.status !== 200) throw new Error(reply.text);
    found.push(...reply.body.data.map(({ id }: Json) => id));
    if (!reply.body.page_info.has_next_page) return found;
    cursor = { cursor: reply.body.page_info.end_cursor };
  }
}

test(
  `${QUERIES} filters`,
  async () => {
    let found = 0;
    await fc.assert(
      fc.asyncProperty(asked(), async ({ resource, isOwn, ...body }) => {
        const { api, seen } = isOwn ? own : all;
        const { now } = harness.clock;
        const expected = query(seen, resource, body, now).map(({ id }) => id);
        // A page of one only where there are few.
        const limit = expected.length > 10 ? Math.max(body.limit, 7) : body.limit;
        expect(await pagesOf(api, resource, { ...body, limit })).toEqual(expected);
        const counted = await api.post(`/${resource}/count`, { filter: body.filter });
        expect(counted.body.data).toEqual({ count: expected.length, is_exact: true });
        found += expected.length;
      }),
      { seed: SEED, numRuns: QUERIES },
    );
    expect(found).toBeGreaterThan(QUERIES);
  },
  HOUR_MS,
);
