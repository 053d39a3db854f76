// The parts of an order that a query goes through, each a range of an index: which come first, and where a page continues.
import type { QueryDirection, QueryPlace, QuerySort } from '../model/query/sorts.ts';
import { longKeyStart, textKey } from '../model/text.ts';
import { ALL_IDS, type IdRange, idsAfter } from './id-ranges.ts';

/** Bounds of the sort value, inclusive; null for none. With either, records without a value are left out. */
export interface ValueBounds {
  from: string | number | null;
  to: string | number | null;
}

/** A first and a last value. */
export interface ValueRange {
  low: string | number;
  high: string | number;
}

/** A part of an order. */
export type Stretch =
  /** All records, in the order of their IDs. */
  | { kind: 'ids'; ids: IdRange }
  /** The records with one value, in the order of their IDs. */
  | { kind: 'value'; value: string | number; ids: IdRange }
  /** The records with values in a range, whose first one is left out if it is where a page continues. */
  | { kind: 'values'; low: string | number; high: string | number; isBeyond: boolean }
  /** The records with long texts that begin alike, whose keys are not in the order of the texts; those after a place. */
  | { kind: 'long'; start: string; after: QueryPlace | null }
  /** The records without a value, in the order of their IDs. */
  | { kind: 'unset'; ids: IdRange };

const LEAST_TEXT = '';
const GREATEST_TEXT = '\u{10FFFF}';

/** The first and the last value that are wanted. */
export function wholeBounds({ isText }: QuerySort, { from, to }: ValueBounds): ValueRange {
  return {
    low: from ?? (isText ? LEAST_TEXT : Number.MIN_SAFE_INTEGER),
    high: to ?? (isText ? GREATEST_TEXT : Number.MAX_SAFE_INTEGER),
  };
}

/** The parts of an order that come after a place, or all of it, in turn. */
export function stretchesAfter(
  sort: QuerySort,
  direction: QueryDirection,
  bounds: ValueBounds,
  after: QueryPlace | null,
  ids: IdRange = ALL_IDS,
): Stretch[] {
  if (sort.by === 'id')
    return [{ kind: 'ids', ids: after === null ? ids : idsAfter(ids, direction, after.id) }];
  const { low, high } = wholeBounds(sort, bounds);
  const isBounded = bounds.from !== null || bounds.to !== null;
  const unset: Stretch[] = isBounded ? [] : [{ kind: 'unset', ids }];
  if (after === null) return [{ kind: 'values', low, high, isBeyond: false }, ...unset];
  const rest = idsAfter(ids, direction, after.id);
  if (after.value === null) return [{ kind: 'unset', ids: rest }];
  const start = typeof after.value === 'string' ? longKeyStart(after.value) : null;
  if (start !== null)
    return [{ kind: 'long', start, after }, behindLong(direction, { low, high }, start), ...unset];
  return [...continued(direction, { low, high }, keyOf(after.value), rest), ...unset];
}

/** The long texts that begin with `start`, and what is left of a part of the order after them. */
export function fromLong(direction: QueryDirection, part: Stretch, start: string): Stretch[] {
  return part.kind === 'values'
    ? [{ kind: 'long', start, after: null }, behindLong(direction, part, start)]
    : [part];
}

/** The same long texts in the order of their keys: for more of them than can be sorted. */
export function longByKeys(
  direction: QueryDirection,
  { start, after }: Extract<Stretch, { kind: 'long' }>,
): Exclude<Stretch, { kind: 'long' }>[] {
  const range = { low: start, high: start + GREATEST_TEXT };
  if (after === null) return [{ kind: 'values', ...range, isBeyond: false }];
  const rest = idsAfter(ALL_IDS, direction, after.id);
  return continued(direction, range, keyOf(after.value ?? ''), rest);
}

function behindLong(direction: QueryDirection, { low, high }: ValueRange, start: string): Stretch {
  const range = direction === 'asc' ? { low: start + GREATEST_TEXT, high } : { low, high: start };
  return { kind: 'values', ...range, isBeyond: true };
}

/** What is left of a part after its last row that was read. */
export function stretchAfter(
  stretch: Exclude<Stretch, { kind: 'long' }>,
  direction: QueryDirection,
  last: { value: string | number; id: string },
): Stretch[] {
  if (stretch.kind === 'values') {
    return continued(direction, stretch, last.value, idsAfter(ALL_IDS, direction, last.id));
  }
  return [{ ...stretch, ids: idsAfter(stretch.ids, direction, last.id) }];
}

function continued(
  direction: QueryDirection,
  { low, high }: ValueRange,
  value: string | number,
  ids: IdRange,
): Exclude<Stretch, { kind: 'long' }>[] {
  const range = direction === 'asc' ? { low: value, high } : { low, high: value };
  return [
    { kind: 'value', value, ids },
    { kind: 'values', ...range, isBeyond: true },
  ];
}

function keyOf(value: string | number): string | number {
  return typeof value === 'string' ? textKey(value) : value;
}
