// Ranges of IDs, which are in the order of creation: where a page continues, and which instants a filter wants.
import type { QueryDirection } from '../model/query/sorts.ts';

/** IDs from the first one on, up to the one before the second. */
export interface IdRange {
  low: string;
  high: string;
}

/** All IDs. */
export const ALL_IDS: IdRange = { low: '', high: '~' };

/** The part of a range that comes after an ID in that direction; IDs have one length, so a space makes the next text. */
export function idsAfter({ low, high }: IdRange, direction: QueryDirection, id: string): IdRange {
  if (direction === 'desc') return { low, high: id < high ? id : high };
  const next = `${id} `;
  return { low: next > low ? next : low, high };
}
