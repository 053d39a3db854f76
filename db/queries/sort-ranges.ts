// The parts of an order that a query goes through, each a range of an index: which come first, and where a page continues.
import type { QueryDirection, QueryPlace, QuerySort } from '../model/query/sorts.ts';
import { textKey } from '../model/text.ts';
import { ALL_IDS, type IdRange, idsAfter } from './id-ranges.ts';

/** Bounds of the sort value, inclusive; null for none. With either, records without a value are left out. */
export interface ValueBounds {
  from: string | number | null;
  to: string | number | null;
}

/** A part of an order. */
export type Stretch =
  /** All records, in the order of their IDs. */
  | { kind: 'ids'; ids: IdRange }
  /** The records with one value, in the order of their IDs. */
  | { kind: 'value'; value: string | number; ids: IdRange }
  /** The records with values in a range, whose first one is left out if it is where a page continues. */
  | { kind: 'values'; low: string | number; high: string | number; isBeyond: boolean }
  /** The records without a value, in the order of their IDs. */
  | { kind: 'unset'; ids: IdRange };

const LEAST_TEXT = '';
const GREATEST_TEXT = '\u{10FFFF}';

/** The first and the last value that are wanted. */
export function wholeBounds(
  { isText }: QuerySort,
  { from, to }: ValueBounds,
): { low: string | number; high: string | number } {
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
  return [...continued(direction, { low, high }, keyOf(after.value), rest), ...unset];
}

/** What is left of a part after its last row that was read. */
export function stretchAfter(
  stretch: Stretch,
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
  { low, high }: { low: string | number; high: string | number },
  value: string | number,
  ids: IdRange,
): Stretch[] {
  const range = direction === 'asc' ? { low: value, high } : { low, high: value };
  return [
    { kind: 'value', value, ids },
    { kind: 'values', ...range, isBeyond: true },
  ];
}

function keyOf(value: string | number): string | number {
  return typeof value === 'string' ? textKey(value) : value;
}
