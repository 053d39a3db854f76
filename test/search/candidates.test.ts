// Candidates of a search: what is in a list of every source, over several runs of the index, in order and from few parts of it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { IndexChanges } from '../../db/search/additions.ts';
import { removalOf } from '../../db/search/blocks.ts';
import { CandidateStream } from '../../db/search/candidates.ts';
import { wordList } from '../../db/search/keys.ts';
import { mergeSome } from '../../db/search/merges.ts';
import { comparePlaces, LAST_PLACE, type SearchEntry, type SearchPlace } from '../../db/search/places.ts';
import { findLiveRuns } from '../../db/search/runs.ts';
import { ReadLists, Source } from '../../db/search/source.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { randomNumbers } from '../support/random.ts';

const TIERS = ['name', 'text'] as const;
// How many of a hundred records have a word in a name, and in a text.
const WORDS = { everyone: [80, 2], many: [40, 20], some: [5, 5], named: [30, 0], few: [1, 1] } as const;
type Word = keyof typeof WORDS;
const NAMES = Object.keys(WORDS) as Word[];
// So few candidates are left to the content of records: of a rare word always, else where each statement is a way to a server.
const FEW = 16;
const RECORDS = 4_000;
const RUNS = 7;

let harness: Harness;
/** What lists contain, by the places of records. */
const lists = new Map<string, Map<string, SearchEntry>>();
const random = randomNumbers(5);

beforeAll(async () => {
  harness = await startHarness();
  const { store, orgNumber } = harness;
  const records = Array.from({ length: RECORDS }, (_, at) => ({
    ms: 1_000 + (at >> 1),
    count: at & 1,
    resource: 0,
  }));
  for (let run = 0; run < RUNS; run++) {
    const changes = new IndexChanges();
    // The runs overlap, and later ones change what earlier ones say.
    for (const one of records.filter(() => random() < 0.4)) change(changes, one);
    await store.write(orgNumber, async (trx) => {
      await changes.save(trx, orgNumber);
      await mergeSome(trx, orgNumber);
    });
  }
});
afterAll(() => harness.close());

function change(changes: IndexChanges, one: SearchEntry): void {
  for (const word of NAMES)
    for (const [at, tier] of TIERS.entries()) {
      const name = wordList(tier, word);
      const list = lists.getOrInsertComputed(name, () => new Map());
      const key = keyOf(one);
      if (100 * random() < (WORDS[word][at] ?? 0)) {
        changes.add(one, name);
        list.set(key, one);
      } else if (list.delete(key)) changes.add(removalOf(one), name);
    }
}

const keyOf = ({ ms, count }: SearchPlace) => `${ms} ${count}`;
const isIn = (tier: (typeof TIERS)[number], word: Word, one: SearchEntry) =>
  lists.get(wordList(tier, word))?.has(keyOf(one)) === true;
const all = () => [...new Map([...lists.values()].flatMap((list) => [...list]))].map(([, one]) => one);

async function candidatesOf(words: readonly Word[], leavesOutNames: boolean, from: SearchPlace) {
  const { store, orgNumber } = harness;
  const read = new ReadLists(await findLiveRuns(store.read, orgNumber));
  const sources = words.map(
    (word) =>
      new Source(
        read,
        TIERS.map((tier) => wordList(tier, word)),
      ),
  );
  const texts = leavesOutNames
    ? new Source(
        read,
        words.map((word) => wordList('text', word)),
      )
    : null;
  const stream = new CandidateStream(store.read, orgNumber, { sources, texts }, from);
  const found: SearchEntry[] = [];
  for (let steps = 1; ; steps++) {
    const { entries, reached } = await stream.next();
    found.push(...entries);
    if (reached === null) return { found, examined: stream.examined, steps };
    for (const one of entries) expect(comparePlaces(one, reached)).toBeGreaterThanOrEqual(0);
  }
}

test('are what all words have, the newest first, with and without what has all of them in names', async () => {
  const runs = await findLiveRuns(harness.store.read, harness.orgNumber);
  expect(runs.length).toBeGreaterThan(1);
  const inOrder = all().toSorted((one, other) => comparePlaces(other, one));
  for (let count = 0; count < 60; count++) {
    const words = NAMES.filter(() => random() < 0.5);
    if (words.length === 0) continue;
    const leavesOutNames = random() < 0.5;
    const from = random() < 0.5 ? LAST_PLACE : { ms: 1_000 + Math.floor((random() * RECORDS) / 2), count: 0 };
    const expected = inOrder.filter(
      (one) =>
        comparePlaces(one, from) <= 0 &&
        words.every((word) => TIERS.some((tier) => isIn(tier, word, one))) &&
        !(leavesOutNames && words.every((word) => isIn('name', word, one))),
    );
    const { found, steps } = await candidatesOf(words, leavesOutNames, from);
    const isTold = harness.store.read.engine.answersAtOnce && !words.includes('few');
    const keys = expected.map(keyOf);
    const wanted = new Set(keys);
    const told = found.map(keyOf).filter((key) => isTold || wanted.has(key));
    expect([words, leavesOutNames, told]).toEqual([words, leavesOutNames, keys]);
    expect(found.length - expected.length).toBeLessThanOrEqual(FEW * steps);
  }
});

test('are looked for in the texts of words that names have more often', async () => {
  const withNames = await candidatesOf(['everyone', 'named'], false, LAST_PLACE);
  const textsAlone = await candidatesOf(['everyone', 'named'], true, LAST_PLACE);
  expect(textsAlone.found.length).toBeGreaterThan(0);
  expect(textsAlone.examined).toBeLessThan(withNames.examined / 2);
});
