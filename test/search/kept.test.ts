// What searches keep of the index for further ones: of which runs, how much, and when it is sure to be whole.
import { expect, test } from 'bun:test';
import type { Db } from '../../db/engine/schema.ts';
import { KeptLists } from '../../db/search/kept.ts';
import { Begun, readStep } from '../../db/search/prefixes.ts';
import type { Run } from '../../db/search/runs.ts';

const PLACE = { ms: 1_000, count: 1 };
const runOf = (run: number, version: string): Run => ({ run, low: PLACE, high: PLACE, version });
const RUNS = [runOf(2, 'b'), runOf(1, 'a')];
const ORG = 7;

const listsOf = (kept: KeptLists, runs: readonly Run[], org = ORG) => kept.lists(org, runs, kept.read);

test('a list that was read is kept for the runs that are still there', () => {
  const kept = new KeptLists();
  const [newest, oldest] = listsOf(kept, RUNS).list('word');
  expect(listsOf(kept, RUNS).list('word')).toEqual([newest, oldest] as never);
  const [added, middle, same] = listsOf(kept, [runOf(3, 'c'), ...RUNS]).list('word');
  expect([middle === newest, same === oldest]).toEqual([true, true]);
  expect(added?.run.run).toBe(3);
  expect(kept.runsOf(ORG)).toEqual([runOf(3, 'c'), ...RUNS]);
});

test('neither a run of another version nor one of another organization is taken for it', () => {
  const kept = new KeptLists();
  const [list] = listsOf(kept, [runOf(1, 'a')]).list('word');
  expect(listsOf(kept, [runOf(1, 'b')]).list('word')[0] === list).toBe(false);
  expect(listsOf(kept, [runOf(1, 'a')], ORG + 1).list('word')[0] === list).toBe(false);
});

test('it is sure to be whole until something is read', () => {
  const kept = new KeptLists();
  const lists = listsOf(kept, RUNS);
  const [list] = lists.list('word');
  expect(lists.areKept).toBe(true);
  list?.note(PLACE, null);
  expect(lists.areKept).toBe(false);
  const next = listsOf(kept, RUNS);
  expect([next.list('word')[0] === list, next.areKept]).toEqual([true, true]);
  // By another search, too, which may have found rows that were being removed.
  listsOf(kept, RUNS).list('other')[0]?.note(PLACE, null);
  expect(next.areKept).toBe(false);
});

test('what begins in some way is kept as long as the runs are the same', () => {
  const kept = new KeptLists();
  const lists = listsOf(kept, RUNS);
  const begun = lists.begin('wo', 1);
  expect(lists.areKept).toBe(true);
  begun.note({ run: 1, from: new Uint8Array(), after: '' }, { lists: [], isEnd: true });
  expect(lists.areKept).toBe(false);
  const next = listsOf(kept, RUNS);
  expect([next.begin('wo', 1) === begun, next.areKept]).toEqual([true, true]);
  expect(listsOf(kept, [runOf(3, 'c'), ...RUNS]).begin('wo', 1) === begun).toBe(false);
});

test('a step that fails is made again by the next search', async () => {
  const begun = new Begun('wo', RUNS, 1);
  const failing = { engine: { answersAtOnce: false } } as unknown as Db;
  await expect(readStep(failing, ORG, [begun])).rejects.toThrow();
  expect([begun.left.length, begun.isBegun, begun.lists]).toEqual([2, true, null]);
  await expect(begun.read(failing, ORG)).rejects.toThrow();
  await expect(begun.read(failing, ORG)).rejects.toThrow();
  expect(begun.left.length).toBe(2);
});

test('all is forgotten when it is too much, but for the runs', () => {
  const kept = new KeptLists(10);
  const [list] = listsOf(kept, RUNS).list('word');
  for (let at = 0; at < 8; at++) list?.note({ ms: 2_000 + at, count: 0 }, null);
  expect(listsOf(kept, RUNS).list('word')[0] === list).toBe(true);
  for (const one of listsOf(kept, RUNS).list('other')) one.note(PLACE, null);
  expect(listsOf(kept, RUNS).list('word')[0] === list).toBe(false);
  expect(kept.runsOf(ORG)).toEqual(RUNS);
});
