// What keeping the search index costs: how many entries a change writes, and how often they are written again.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { keyOfBytes } from '../../db/tables/search-keys.ts';
import { entriesOf, packedLists } from '../../db/tables/search-packing.ts';
import { findRuns, isLive } from '../../db/tables/search-runs.ts';
import { IndexUpdates, startIndexing } from '../../server/index-updates.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { until } from '../support/until.ts';
import { type Client, clientOf } from '../support/v2.ts';

let harness: Harness;
let api: Client;
beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

const updateIndex = () => new IndexUpdates(harness.store).update(harness.orgNumber);
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
  for (let at = 0; at < 60; at++) {
    await api.create('notes', { title: `Note ${at}` });
    await updateIndex();
    live.push(await liveRuns());
  }
  expect(Math.max(...live)).toBe(20);
  expect(live.filter((count, at) => count < (live[at - 1] ?? 0)).length).toBeLessThan(10);
  await api.create('notes', { title: 'The last one' });
  const indexing = startIndexing(harness.store);
  await until(async () => (await liveRuns()) < 5);
  await indexing.stop();
});
