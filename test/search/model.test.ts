// A search against the plain rules: random records in nine scripts and random queries give the same records in the same order.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { randomNumbers } from '../support/random.ts';
import { type Client, clientOf } from '../support/v2.ts';
import { hasWordOf, type PlainRecord, PlainSearch, plainTexts } from './plain-search.ts';
import { randomQuery } from './random-queries.ts';
import { RandomRecords, TYPES } from './random-records.ts';
import { pick, RandomTexts, whole } from './random-texts.ts';

// SEARCH_RECORDS=10000 SEARCH_QUERIES=2000 is what is promised.
const RECORDS = Number(process.env.SEARCH_RECORDS ?? 600);
const QUERIES = Number(process.env.SEARCH_QUERIES ?? 240);
const SEED = Number(process.env.SEARCH_SEED ?? 1);
// Writes, then queries, then writes again.
const ROUNDS = 3;
const LONG = 3_600_000;

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

/** Everything that a query finds, page after page. */
async function search(client: Client, q: string, types: readonly string[], limit: number): Promise<Json[]> {
  const named = types.map((type) => `&types=${type}`).join('');
  return client.all(`/search?q=${encodeURIComponent(q)}${named}`, limit);
}

/** Whether the hit shows a part of the record that has a word of the query. */
function expectShown(q: string, result: Json, about: PlainRecord): void {
  const { tier, field, snippet } = result.match;
  expect(result.record).toEqual(about.record);
  expect([...snippet].length).toBeLessThanOrEqual(160);
  if (tier === 'identifier') return;
  const texts = plainTexts(about)[tier as 'name' | 'text'];
  const shown = texts.filter((one) => one.field === field && one.text.includes(snippet));
  expect(shown.map((one) => hasWordOf(q, one))).toContain(true);
}

test(
  `${QUERIES} queries of ${RECORDS} records find what the plain rules find, in their order`,
  async () => {
    const texts = new RandomTexts(randomNumbers(SEED));
    const records = new RandomRecords(harness, texts);
    const clients = [clientOf(harness), await clientOf(harness).withKey({ userId: harness.alice })];
    const found: Record<string, number> = {};
    for (let round = 0; round < ROUNDS; round++) {
      await records.write(Math.ceil(RECORDS / ROUNDS));
      const worlds = await Promise.all(
        clients.map(async (client) => {
          const all = await records.readAll(client);
          return {
            client,
            all,
            plain: new PlainSearch(all),
            of: new Map(all.map((one) => [one.record.id, one])),
          };
        }),
      );
      expect(worlds.map(({ all }) => all.length > 0)).toEqual([true, true]);
      for (let count = 0; count < QUERIES / ROUNDS; count++) {
        const { client, all, plain, of } = pick(texts.random, worlds);
        const q = randomQuery(texts, all);
        const types = texts.random() < 0.7 ? [] : TYPES.filter(() => texts.random() < 0.5);
        const results = await search(client, q, types, whole(texts.random, 1, 100));
        const told = results.map(({ record_type, record_id, match }) => ({
          type: record_type,
          id: record_id,
          tier: match.tier,
        }));
        expect([q, types, told]).toEqual([q, types, plain.find(q, types.length > 0 ? types : TYPES)]);
        for (const result of results) expectShown(q, result, of.get(result.record_id) as PlainRecord);
        for (const { tier } of told) found[tier] = (found[tier] ?? 0) + 1;
        found.queries = (found.queries ?? 0) + (told.length > 0 ? 1 : 0);
      }
    }
    // Most queries find something, in every tier.
    expect(found.queries).toBeGreaterThan(QUERIES / 2);
    for (const tier of ['identifier', 'name', 'text']) expect(found[tier]).toBeGreaterThan(QUERIES / 40);
  },
  LONG,
);
