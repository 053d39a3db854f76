// What a search keeps of a long list: enough to go on without reading parts again, and all that somebody still reads from.
import { expect, test } from 'bun:test';
import { ListRun } from '../../db/search/list-runs.ts';
import { packedList, RowPacker } from '../../db/search/packing.ts';
import { ListPart } from '../../db/search/parts.ts';

const LIST = 'list';
const ENTRIES = 20_000;
const PARTS_MIN = 50;

test('parts are forgotten once nobody reads from them, except the newest ones and the oldest one', () => {
  const packer = new RowPacker();
  const entries = Array.from({ length: ENTRIES }, (_, at) => ({
    ms: 1_000 * (at + 1),
    count: at,
    resource: 0,
  }));
  packer.add(LIST, entries, true);
  packer.flush();
  const parts = packer.rows.toReversed().map(({ list, bytes }) => {
    const packed = packedList(list, bytes, LIST);
    if (packed === null) throw new Error('no list');
    return new ListPart(packed, false);
  });
  expect(parts.length).toBeGreaterThan(PARTS_MIN);
  const run = new ListRun(LIST, {
    run: 1,
    low: { ms: 0, count: 0 },
    high: { ms: 1_000 * ENTRIES, count: ENTRIES },
    version: null,
  });
  const isKept = (part: ListPart) => run.partAt(part.first) === part;
  // Two tiers at once.
  run.use();
  run.use();
  for (const part of parts) run.note(part.first, part);
  run.release();
  expect(parts.every(isKept)).toBe(true);
  run.release();
  const kept = parts.map(isKept);
  expect([kept[0], kept.at(-2), kept.at(-1)]).toEqual([true, false, true]);
});
