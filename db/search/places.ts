// The place of a record in the search index: the part of its ID that tells when it was created, in fewer bytes.

import { instantOfId } from '../tables/record-id.ts';

/** What orders records in the index, as their IDs do: the newest has the greatest. */
export interface SearchPlace {
  /** When it was created, in Unix milliseconds. */
  readonly ms: number;
  /** The counter in its ID, which no other record of that millisecond has. */
  readonly count: number;
}

/** A record in the index. */
export interface SearchEntry extends SearchPlace {
  /** The number of its resource. */
  readonly resource: number;
}

const COUNT_END = 2 ** 32;
const MS_BYTES = 6;
const PLACE_BYTES = 10;

/** The place before all others. */
export const FIRST_PLACE: SearchPlace = { ms: 0, count: 0 };

/** A place after those of all records. */
export const LAST_PLACE: SearchPlace = { ms: 2 ** 48 - 1, count: COUNT_END - 1 };

/** The place of the record with that ID, which `recordId` made. */
export function placeOfId(id: string): SearchPlace {
  const ms = instantOfId(id);
  const count = Number.parseInt(id.slice(15, 18) + id.slice(20, 23) + id.slice(24, 26), 16);
  return Number.isNaN(ms) || Number.isNaN(count) ? { ms: 0, count: 0 } : { ms, count };
}

/** How the ID of the record at a place begins; no other does. */
export function idStart({ ms, count }: SearchPlace): string {
  const time = ms.toString(16).padStart(12, '0');
  const rest = count.toString(16).padStart(8, '0');
  const counter = `7${rest.slice(0, 3)}-8${rest.slice(3, 6)}-${rest.slice(6)}`;
  return `${time.slice(0, 8)}-${time.slice(8)}-${counter}`;
}

/** Less than zero if the first is older. */
export function comparePlaces(one: SearchPlace, other: SearchPlace): number {
  return one.ms - other.ms || one.count - other.count;
}

/** Whether a place comes after another. */
export function isLater(one: SearchPlace, other: SearchPlace): boolean {
  return one.ms > other.ms || (one.ms === other.ms && one.count > other.count);
}

/** The place just before; of the first place, itself. */
export function previousPlace({ ms, count }: SearchPlace): SearchPlace {
  if (count > 0) return { ms, count: count - 1 };
  return ms > 0 ? { ms: ms - 1, count: COUNT_END - 1 } : { ms, count };
}

/** A place as ten bytes, which are in the same order. */
export function placeBytes({ ms, count }: SearchPlace): Buffer {
  const bytes = Buffer.alloc(PLACE_BYTES);
  bytes.writeUIntBE(ms, 0, MS_BYTES);
  bytes.writeUInt32BE(count, MS_BYTES);
  return bytes;
}

/** The place with those bytes. */
export function placeOfBytes(bytes: Uint8Array): SearchPlace {
  return { ms: numberIn(bytes, 0, MS_BYTES), count: numberIn(bytes, MS_BYTES, PLACE_BYTES) };
}

function numberIn(bytes: Uint8Array, start: number, end: number): number {
  let number = 0;
  for (let at = start; at < end; at++) number = number * 256 + (bytes[at] as number);
  return number;
}
