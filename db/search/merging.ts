// Merges the lists of some runs of the search index, as far as one step reads them.

import type { Db } from '../engine/schema.ts';
import { TimeSlices } from '../event-loop.ts';
import { mergeEntries, REMOVED } from './blocks.ts';
import { keyBytes, runKeyStart } from './keys.ts';
import { findRowsFrom } from './lists.ts';
import { entriesOf, type PackedList, type PackedRow, RowPacker } from './packing.ts';
import { comparePlaces, type SearchEntry, type SearchPlace } from './places.ts';

const LISTS_PER_LOOK = 64;
// They take a few milliseconds.
const ROWS_PER_STEP = 256;

/** The last entry of all that come before the others, in the order of lists and places. */
export interface MergePoint {
  list: string;
  place: SearchPlace;
}

/** A run that is merged. */
export interface MergedRun {
  run: number;
  bytes: number;
  /** How many records it removes from lists of older runs. */
  removals: number;
}

export interface MergeInput {
  /** The runs, the newest first. */
  sources: readonly MergedRun[];
  /** What is merged already; null at first. */
  done: MergePoint | null;
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
  hasRemoved: boolean;
  lists: readonly PackedList[];
  next: number;
  /** The last entry in the rows that were read; null if there are no more rows. */
  end: MergePoint | null;
}

/** Merges what comes next. */
export async function mergeFrom(db: Db, orgNumber: number, input: MergeInput): Promise<MergeOutput> {
  const { done } = input;
  const bytes = input.sources.reduce((sum, one) => sum + one.bytes, 0);
  // So that the rows of all sources go about as far: those behind the first end are read again.
  const reading = input.sources.map((one) =>
    readSource(db, orgNumber, one, { done, rows: (ROWS_PER_STEP * one.bytes) / bytes }),
  );
  const sources = await Promise.all(reading);
  const end = sources.map((one) => one.end).reduce(earlierOf);
  const merging = new Merging(sources, end, input);
  const turns = new TimeSlices();
  for (let lists = 1; merging.addNext(); lists++)
    if (lists % LISTS_PER_LOOK === 0 && turns.isOver) await turns.next();
  return { rows: merging.rows(), done: end };
}

class Merging {
  readonly #sources: readonly Source[];
  readonly #end: MergePoint | null;
  readonly #input: MergeInput;
  readonly #packer = new RowPacker();

  constructor(sources: readonly Source[], end: MergePoint | null, input: MergeInput) {
    this.#sources = sources;
    this.#end = end;
    this.#input = input;
  }

  rows(): readonly PackedRow[] {
    this.#packer.flush();
    return this.#packer.rows;
  }

  /** Merges the next list; false if it was the last one. */
  addNext(): boolean {
    let list: string | null = null;
    let only: Source | null = null;
    for (const source of this.#sources) {
      const next = source.lists[source.next]?.list;
      if (next === undefined || (list !== null && next > list)) continue;
      only = next === list ? null : source;
      list = next;
    }
    if (list === null || (this.#end !== null && list > this.#end.list)) return false;
    const isCut = list === this.#end?.list;
    const isWhole = !isCut && list !== this.#input.done?.list;
    const packed = only?.lists[only.next];
    // Most lists are short, and in one of the runs.
    const isKept = !(this.#input.leavesOutRemoved && only?.hasRemoved);
    if (isWhole && isKept && only && packed && only.lists[only.next + 1]?.list !== list) {
      this.#packer.addPacked(packed);
      only.next += 1;
    } else this.#addMerged(list, isCut, isWhole);
    return !isCut;
  }

  #addMerged(list: string, isCut: boolean, isWhole: boolean): void {
    const { done, leavesOutRemoved } = this.#input;
    const parts = this.#sources.map((source) => take(source, list).flatMap(entriesOf));
    const isWanted = (one: SearchEntry) =>
      !(isCut && this.#end !== null && isAfter(one, this.#end.place)) &&
      !(list === done?.list && !isAfter(one, done.place)) &&
      !(leavesOutRemoved && one.resource === REMOVED);
    const isNarrowed = !isWhole || leavesOutRemoved;
    const entries = mergeEntries(parts.filter(({ length }) => length > 0));
    this.#packer.add(list, isNarrowed ? entries.filter(isWanted) : entries, isWhole);
  }
}

async function readSource(
  db: Db,
  orgNumber: number,
  { run, removals }: MergedRun,
  { done, rows }: { done: MergePoint | null; rows: number },
): Promise<Source> {
  const from = done === null ? runKeyStart(run, '') : keyBytes({ ...done, run });
  const { lists, isEnd } = await findRowsFrom(db, orgNumber, { run, from, start: '' }, rows);
  const next = done === null ? 0 : lists.findIndex(({ list }) => list >= done.list);
  const last = lists.at(-1);
  const place = last && entriesOf(last).at(-1);
  const end = isEnd || last === undefined || place === undefined ? null : { list: last.list, place };
  return { hasRemoved: removals > 0, lists, next: next < 0 ? lists.length : next, end };
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
