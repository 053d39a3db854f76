// What keeping the search index costs: how many entries a change writes, and how often they are written again.
import { afterAll, beforeAll, expect, spyOn, test } from 'bun:test';
import { keyOfBytes } from '../../db/search/keys.ts';
import { mergeToRest } from '../../db/search/merges.ts';
import { entriesOf, packedLists } from '../../db/search/packing.ts';
import { findRuns, isLive } from '../../db/search/runs.ts';
import { startIndexing } from '../../server/index-updates.ts';
import { fail } from '../support/background.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { indexAll } from '../support/index-all.ts';
import { until } from '../support/until.ts';
import { type Client, clientOf } from '../support/v2.ts';

const SOME_LOOKS_MS = 1_500;

let harness: Harness;
let api: Client;
beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

const updateIndex = () => indexAll(harness);
const runs = () => findRuns(harness.store.read, harness.orgNumber);
const liveRuns = async () => (await runs()).filter(isLive).length;

/** The lists of the newest run, each with its number of entries. */
async function newestRun(): Promise<Record<string, number>> {
  const [newest] = await runs();
  const rows = await harness.store.read.selectFrom('search_rows').selectAll().execute();
  const lists = rows.flatMap(({ key, entries }) => {
    const { run, list } = keyOfBytes(key);
    return run === newest?.run ? packedLists(list, entries) : [];
  });
  return Object.fromEntries(lists.map((one) => [one.list, entriesOf(one).length]));
}

test('an update writes the words that differ, one entry each; the words that stay only if more is waiting', async () => {
  const { id } = await api.create('contacts', { first_name: 'Ada', title: 'Engineer one' });
  await updateIndex();
  await api.update('contacts', id, { title: 'Engineer two' });
  await updateIndex();
  expect(await newestRun()).toEqual({ tone: 1, ttwo: 1 });
  await api.update('contacts', id, { title: 'Engineer three' });
  await api.update('contacts', id, { title: 'Engineer four' });
  await updateIndex();
  expect(await newestRun()).toEqual({ tengineer: 1, tfour: 1, tthree: 1, ttwo: 1 });
});

test('runs are merged once nothing is waiting, or when there are many', async () => {
  const live: number[] = [];
  // What was merged is removed some seconds later, and that instead of merging more.
  const clock = spyOn(Date, 'now').mockReturnValue(Date.now());
  for (let at = 0; at < 60; at++) {
    await api.create('notes', { title: `Note ${at}` });
    await updateIndex();
    live.push(await liveRuns());
  }
  clock.mockRestore();
  expect(Math.max(...live)).toBe(20);
  expect(live.filter((count, at) => count < (live[at - 1] ?? 0)).length).toBeLessThan(10);
  await api.create('notes', { title: 'The last one' });
  const indexing = startIndexing(harness.store, fail);
  await until(async () => (await liveRuns()) < 5);
  await indexing.stop();
});

test('after each burst of writes a few runs are merged; the large ones are written again once a minute at most', async () => {
  const oldest = async () => (await runs()).findLast(isLive)?.run;
  const isIndexed = async () =>
    (await harness.store.read.selectFrom('search_pending').select('id').execute()).length === 0;
  const writeBurst = async (words: string) => {
    const notes = Array.from({ length: 100 }, (_, at) => ({
      title: `${words} ${at}`,
      content: `${at} ${words}`,
    }));
    await api.batch('/notes/batch', notes);
    await until(isIndexed);
  };
  let indexing = startIndexing(harness.store, fail);
  await writeBurst('first of all');
  await until(async () => (await liveRuns()) === 1);
  // The minute begins when a look finds nothing more to merge; a write before that has it merge again.
  await Bun.sleep(SOME_LOOKS_MS);
  const first = await oldest();
  for (const words of ['second', 'third']) await writeBurst(words);
  await Bun.sleep(SOME_LOOKS_MS);
  expect([await oldest(), await liveRuns()]).toEqual([first, 3]);
  await indexing.stop();
  // It knows nothing of the minute before.
  indexing = startIndexing(harness.store, fail);
  await writeBurst('fourth');
  await until(async () => (await liveRuns()) === 1);
  await indexing.stop();
}, 300_000);

test('an organization that was deleted meanwhile has nothing to merge', async () => {
  expect(await harness.store.write(999_999, (trx) => mergeToRest(trx, 999_999))).toBe(false);
});
