// Entries of lists of the search index as bytes: about three for each record of a common word, nine for that of a rare one.
import { EntryColumns } from './columns.ts';
import { comparePlaces, isLater, type SearchEntry, type SearchPlace } from './places.ts';

/** The least bytes that an entry takes. */
export const ENTRY_BYTES = 2;

/** Instead of a resource: the record is no longer in the list, whatever older runs say. */
export const REMOVED = 15;

/** The entry that removes a record from a list of older runs. */
export function removalOf({ ms, count }: SearchPlace): SearchEntry {
  return { ms, count, resource: REMOVED };
}

const RESOURCES_MAX = 16;
const COUNT_END = 2 ** 32;

/** Entries from the oldest to the newest, each place once. */
export type Entries = readonly SearchEntry[];

/** Bytes that grow. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(4_096);
  length = 0;

  /** Seven bits to a byte, the lowest first. */
  putNumber(number: number): void {
    this.#reserve(8);
    let rest = number;
    for (; rest > 0xfffffff; rest = Math.floor(rest / 128)) this.#bytes[this.length++] = (rest % 128) + 128;
    for (; rest > 127; rest >>>= 7) this.#bytes[this.length++] = (rest & 127) | 128;
    this.#bytes[this.length++] = rest;
  }

  /** Adds those of another one. */
  putAll(other: ByteWriter): void {
    this.put(other.#bytes, 0, other.length);
  }

  put(bytes: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start);
    for (let at = start; at < end; at++) this.#bytes[this.length++] = bytes[at] as number;
  }

  /** Characters of one byte each. */
  putText(text: string, start: number): void {
    this.#reserve(text.length);
    for (let at = start; at < text.length; at++) this.#bytes[this.length++] = text.charCodeAt(at);
  }

  copy(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.length));
  }

  #reserve(more: number): void {
    if (this.length + more <= this.#bytes.length) return;
    const longer = Buffer.allocUnsafe(2 * (this.length + more));
    this.#bytes.copy(longer, 0, 0, this.length);
    this.#bytes = longer;
  }
}

/**
 * Writes entries: of each the milliseconds since the one before, its resource, and how much further the counter is.
 * @param from the first of them
 * @param bytesMax the size after which no more entries are written
 * @returns how many were written
 */
export function writeEntries(
  into: ByteWriter,
  entries: Entries,
  from = 0,
  bytesMax = Number.POSITIVE_INFINITY,
): number {
  const endsAt = into.length + bytesMax;
  let ms = 0;
  let count = 0;
  let at = from;
  for (; at < entries.length && into.length < endsAt; at++) {
    const entry = entries[at] as SearchEntry;
    into.putNumber((entry.ms - ms) * RESOURCES_MAX + entry.resource);
    into.putNumber((entry.count - count + COUNT_END) % COUNT_END);
    ({ ms, count } = entry);
  }
  return at - from;
}

/** The entries in a part of some bytes. */
export function readEntries(bytes: Uint8Array, start = 0, end = bytes.length): SearchEntry[] {
  const isShort = end - start <= SHORT_BYTES;
  return (isShort ? readInto(short, bytes, start, end) : readEntryColumns(bytes, start, end)).toEntries();
}

// Most lists have an entry or two, for which to make columns takes longer than to read them.
const SHORT_BYTES = 64;
const short = new EntryColumns(SHORT_BYTES / ENTRY_BYTES);

/** The same in columns. */
export function readEntryColumns(bytes: Uint8Array, start: number, end: number): EntryColumns {
  return readInto(new EntryColumns(countIn(bytes, start, end)), bytes, start, end);
}

function readInto(entries: EntryColumns, bytes: Uint8Array, start: number, end: number): EntryColumns {
  const { ms: allMs, count: counts, resource: resources } = entries;
  let ms = 0;
  let count = 0;
  let index = 0;
  let isCount = false;
  for (let at = start; at < end; isCount = !isCount) {
    // The lowest 28 bits, which nearly always are all, are written out: a loop takes twice as long.
    let byte = bytes[at++] as number;
    let low = byte & 127;
    if (byte > 127) {
      byte = bytes[at++] as number;
      low |= (byte & 127) << 7;
      if (byte > 127) {
        byte = bytes[at++] as number;
        low |= (byte & 127) << 14;
        if (byte > 127) {
          byte = bytes[at++] as number;
          low |= (byte & 127) << 21;
        }
      }
    }
    let high = 0;
    for (let factor = 2 ** 28; byte > 127; factor *= 128) {
      byte = bytes[at++] as number;
      high += (byte & 127) * factor;
    }
    if (isCount) {
      count += low + high;
      if (count >= COUNT_END) count -= COUNT_END;
      counts[index++] = count;
    } else {
      const resource = low % RESOURCES_MAX;
      ms += (low - resource + high) / RESOURCES_MAX;
      resources[index] = resource;
      allMs[index] = ms;
    }
  }
  entries.length = index;
  return entries;
}

// Each has two numbers, and each number ends with a byte below 128.
function countIn(bytes: Uint8Array, start: number, end: number): number {
  let numbers = 0;
  for (let at = start; at < end; at++) numbers += 1 - ((bytes[at] as number) >> 7);
  return numbers / 2;
}

/** The place of the first entry in a part of some bytes. */
export function firstPlace(bytes: Uint8Array, start: number): SearchPlace {
  let end = start;
  for (let numbers = 0; numbers < 2; numbers++) {
    while ((bytes[end] as number) > 127) end++;
    end++;
  }
  return readInto(short, bytes, start, end).at(0);
}

/** What several runs say of a list, given from the newest run to the oldest: of each place, what the newest says. */
export function mergeEntries(some: readonly Entries[]): Entries {
  if (some.length < 2) return some[0] ?? [];
  // In halves: words that begin alike can have hundreds of lists.
  const middle = some.length >> 1;
  return mergeTwo(mergeEntries(some.slice(0, middle)), mergeEntries(some.slice(middle)));
}

function mergeTwo(newer: Entries, older: Entries): Entries {
  if (newer.length === 0) return older;
  if (older.length === 0) return newer;
  // Newer runs usually have newer records.
  if (isBefore(older, newer)) return older.concat(newer);
  if (isBefore(newer, older)) return newer.concat(older);
  const merged: SearchEntry[] = [];
  let at = 0;
  for (const entry of newer) {
    while (at < older.length && isLater(entry, older[at] as SearchEntry))
      merged.push(older[at++] as SearchEntry);
    if (at < older.length && comparePlaces(older[at] as SearchEntry, entry) === 0) at += 1;
    merged.push(entry);
  }
  while (at < older.length) merged.push(older[at++] as SearchEntry);
  return merged;
}

function isBefore(some: Entries, others: Entries): boolean {
  return isLater(others[0] as SearchEntry, some.at(-1) as SearchEntry);
}
