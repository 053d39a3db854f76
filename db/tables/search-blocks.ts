// Blocks of the search index: the records that have a word, some two hundred at a time, in about five bytes each.
import { comparePlaces, type SearchEntry, type SearchPlace } from './search-places.ts';

/**
 * The size of a block. A row of SQLite that is longer than a quarter of a page takes a page of its own, and each new record
 * writes the whole block.
 */
export const BLOCK_BYTES_MAX = 800;

/** The least bytes that an entry takes. */
export const ENTRY_BYTES = 2;

const RESOURCES_MAX = 16;
const COUNT_END = 2 ** 32;

/** Entries from the oldest to the newest, each place once. */
export type Entries = readonly SearchEntry[];

/** Entries as bytes. */
export interface EncodedEntries {
  bytes: Uint8Array;
  /** How many entries they contain. */
  count: number;
}

/**
 * Entries as bytes: of each the milliseconds since the one before, its resource, and how much further the counter is.
 * @param last the place of the entry before them; for a block its own first one
 * @param from the first of them
 * @param bytesMax the size after which no more entries are taken
 */
export function encodeEntries(
  entries: Entries,
  last: SearchPlace,
  from = 0,
  bytesMax = Number.POSITIVE_INFINITY,
): EncodedEntries {
  const bytes: number[] = [];
  let { ms, count } = last;
  let at = from;
  for (; at < entries.length && bytes.length < bytesMax; at++) {
    const entry = entries[at] as SearchEntry;
    putNumber(bytes, (entry.ms - ms) * RESOURCES_MAX + entry.resource);
    putNumber(bytes, (entry.count - count + COUNT_END) % COUNT_END);
    ({ ms, count } = entry);
  }
  return { bytes: Uint8Array.from(bytes), count: at - from };
}

/** The entries of a block, whose first one is at that place. */
export function decodeBlock(first: SearchPlace, bytes: Uint8Array): SearchEntry[] {
  const entries: SearchEntry[] = [];
  let { ms, count } = first;
  for (let at = 0; at < bytes.length; ) {
    let value = 0;
    let factor = 1;
    for (; (bytes[at] as number) > 127; factor *= 128) value += ((bytes[at++] as number) - 128) * factor;
    value += (bytes[at++] as number) * factor;
    const resource = value % RESOURCES_MAX;
    ms += (value - resource) / RESOURCES_MAX;
    value = 0;
    factor = 1;
    for (; (bytes[at] as number) > 127; factor *= 128) value += ((bytes[at++] as number) - 128) * factor;
    count = (count + value + (bytes[at++] as number) * factor) % COUNT_END;
    entries.push({ ms, count, resource });
  }
  return entries;
}

/** The place of the last entry of a block. */
export function lastPlace(first: SearchPlace, bytes: Uint8Array): SearchPlace {
  let { ms, count } = first;
  let isTime = true;
  let value = 0;
  let factor = 1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte > 127) {
      value += (byte - 128) * factor;
      factor *= 128;
      continue;
    }
    value += byte * factor;
    if (isTime) ms += Math.floor(value / RESOURCES_MAX);
    else count = (count + value) % COUNT_END;
    isTime = !isTime;
    value = 0;
    factor = 1;
  }
  return { ms, count };
}

// Seven bits to a byte, the lowest first.
function putNumber(bytes: number[], number: number): void {
  let rest = number;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
}

/** Whether entries contain a place. */
export function hasPlace(entries: Entries, place: SearchPlace): boolean {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const compared = comparePlaces(entries[middle] as SearchEntry, place);
    if (compared === 0) return true;
    if (compared < 0) low = middle + 1;
    else high = middle;
  }
  return false;
}

/** Entries with others added, which replace those of the same place, and without those at other places. All are in order. */
export function mergeEntries(
  entries: Entries,
  added: Entries,
  removed: readonly SearchPlace[],
): SearchEntry[] {
  const merged: SearchEntry[] = [];
  const gone = new Set(removed.map(nameOf));
  let next = 0;
  for (const entry of entries) {
    for (; next < added.length && comparePlaces(added[next] as SearchEntry, entry) < 0; next++)
      merged.push(added[next] as SearchEntry);
    if (next < added.length && comparePlaces(added[next] as SearchEntry, entry) === 0) continue;
    if (gone.size === 0 || !gone.has(nameOf(entry))) merged.push(entry);
  }
  merged.push(...added.slice(next));
  return merged;
}

function nameOf({ ms, count }: SearchPlace): string {
  return `${ms} ${count}`;
}
