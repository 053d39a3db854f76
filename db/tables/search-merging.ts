// Merges the lists of some runs of the search index, as far as one step reads them.

import type { Db } from '../engine/schema.ts';
import { TimeSlices } from '../event-loop.ts';
import { mergeEntries, REMOVED } from './search-blocks.ts';
import { keyBytes, runKeyStart } from './search-keys.ts';
import { findRowsFrom } from './search-lists.ts';
import { entriesOf, type PackedList, type PackedRow, RowPacker } from './search-packing.ts';
import { comparePlaces, type SearchEntry, type SearchPlace } from './search-places.ts';

/** The last entry of all that come before the others, in the order of lists and places. */
export interface MergePoint {
  list: string;
  place: SearchPlace;
}

export interface MergeInput {
  /** The numbers of the runs, the newest first. */
  sources: readonly number[];
  /** What is merged already; null at first. */
  done: MergePoint | null;
  /** Whether there are removals. */
  hasRemoved: boolean;
  /** Whether removals are not needed any longer. */
  leavesOutRemoved: boolean;
}

export interface MergeOutput {
  rows: readonly PackedRow[];
  /** What is merged now; null if it is everything. */
  done: MergePoint | null;
}

/** Lists of a run from the first that is not merged. */
interface Source {
  lists: readonly PackedList[];
  next: number;
  /** The last entry in the rows that were read; null if there are no more rows. */
  end: MergePoint | null;
}

/** Merges what comes next. */
export async function mergeFrom(db: Db, orgNumber: number, input: MergeInput): Promise<MergeOutput> {
  const { done } = input;
  const sources = await Promise.all(input.sources.map((run) => readSource(db, orgNumber, run, done)));
  const end = sources.map((one) => one.end).reduce(earlierOf);
  const packer = new RowPacker();
  const turns = new TimeSlices();
  for (let list = nextList(sources); list !== null; list = nextList(sources)) {
    if (end !== null && list > end.list) break;
    const isCut = list === end?.list;
    const found = sources.map((source) => take(source, list));
    const [only, ...others] = found.flat();
    const isWhole = !isCut && list !== done?.list;
    if (isWhole && others.length === 0 && !input.hasRemoved && only !== undefined) packer.addPacked(only);
    else {
      const entries = mergeEntries(found.map((parts) => parts.flatMap(entriesOf)));
      const isWanted = (one: SearchEntry) =>
        !(isCut && isAfter(one, end.place)) &&
        !(list === done?.list && !isAfter(one, done.place)) &&
        !(input.leavesOutRemoved && one.resource === REMOVED);
      packer.add(list, entries.filter(isWanted), isWhole);
    }
    if (isCut) break;
    if (turns.isOver) await turns.next();
  }
  packer.flush();
  return { rows: packer.rows, done: end };
}

async function readSource(db: Db, orgNumber: number, run: number, done: MergePoint | null): Promise<Source> {
  const from = done === null ? runKeyStart(run, '') : keyBytes({ ...done, run });
  const { lists, isEnd } = await findRowsFrom(db, orgNumber, { run, from, start: '' });
  const next = done === null ? 0 : lists.findIndex(({ list }) => list >= done.list);
  const last = lists.at(-1);
  const place = last && entriesOf(last).at(-1);
  const end = isEnd || last === undefined || place === undefined ? null : { list: last.list, place };
  return { lists, next: next < 0 ? lists.length : next, end };
}

function nextList(sources: readonly Source[]): string | null {
  let first: string | null = null;
  for (const { lists, next } of sources) {
    const list = lists[next]?.list;
    if (list !== undefined && (first === null || list < first)) first = list;
  }
  return first;
}

// The parts of a list that come next.
function take(source: Source, list: string): PackedList[] {
  const parts: PackedList[] = [];
  for (let one = source.lists[source.next]; one?.list === list; one = source.lists[source.next]) {
    parts.push(one);
    source.next += 1;
  }
  return parts;
}

function earlierOf(one: MergePoint | null, other: MergePoint | null): MergePoint | null {
  if (one === null || other === null) return one ?? other;
  if (one.list !== other.list) return one.list < other.list ? one : other;
  return isAfter(one.place, other.place) ? other : one;
}

function isAfter(one: SearchPlace, other: SearchPlace): boolean {
  return comparePlaces(one, other) > 0;
}
