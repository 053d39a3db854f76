// The lists of the search index, one for each word, and the keys under which runs have them.

import type { TextTier } from '../model/searched.ts';
import { placeBytes, placeOfBytes, type SearchPlace } from './places.ts';

const KINDS = { name: 'n', text: 't', resource: 'r', owner: 'o' } as const;

/** What the records of a list have in common: a word, their resource, or their owner. */
export type ListKind = keyof typeof KINDS;

/** Whether that is the name of a list of that kind. */
export function isOfKind(list: string, kind: ListKind): boolean {
  return list.startsWith(KINDS[kind]);
}

const IS_ASCII = /^[\0-\x7f]*$/;

/** The name of the list of the records that have a word in a text of that tier: UTF-8, each byte as one character. */
export function wordList(tier: TextTier, word: string): string {
  return KINDS[tier] + (IS_ASCII.test(word) ? word : Buffer.from(word).toString('latin1'));
}

/** The name of the list of all records of a resource, by its number. */
export function resourceList(resource: number): string {
  return `${KINDS.resource}${resource}`;
}

/** The name of the list of all records of an owner. */
export function ownerList(ownerId: string): string {
  return KINDS.owner + ownerId;
}

// Numbers of runs begin the keys.
const RUN_BYTES = 4;
const PLACE_BYTES = 10;
// No name of a list contains it, nor the byte after it.
const END_OF_LIST = 0;

/** Where a row begins: at the place of a record in a list of a run. */
export interface IndexKey {
  run: number;
  list: string;
  place: SearchPlace;
}

/** The bytes of a key, in the order of run, list and place. */
export function keyBytes({ run, list, place }: IndexKey): Buffer {
  const key = Buffer.allocUnsafe(RUN_BYTES + list.length + 1 + PLACE_BYTES);
  key.writeUInt32BE(run, 0);
  key.write(list, RUN_BYTES, 'latin1');
  key[RUN_BYTES + list.length] = END_OF_LIST;
  placeBytes(place).copy(key, RUN_BYTES + list.length + 1);
  return key;
}

/** The key with those bytes. */
export function keyOfBytes(key: Uint8Array): IndexKey {
  return { run: runOfKey(key), list: listOfKey(key), place: placeOfKey(key) };
}

/** The place of the key with those bytes. */
export function placeOfKey(key: Uint8Array): SearchPlace {
  return placeOfBytes(key.subarray(key.length - PLACE_BYTES));
}

/** The run of the key with those bytes. */
export function runOfKey(key: Uint8Array): number {
  let run = 0;
  for (let at = 0; at < RUN_BYTES; at++) run = run * 256 + (key[at] as number);
  return run;
}

/** The list of the key with those bytes. */
export function listOfKey(key: Uint8Array): string {
  const listEnd = key.length - PLACE_BYTES - 1;
  let list = '';
  for (let at = RUN_BYTES; at < listEnd; at++) list += String.fromCharCode(key[at] as number);
  return list;
}

/** The first bytes of all keys of a run that are of this list or one that begins in that way. */
export function runKeyStart(run: number, start: string): Buffer {
  const key = Buffer.allocUnsafe(RUN_BYTES + start.length);
  key.writeUInt32BE(run, 0);
  key.write(start, RUN_BYTES, 'latin1');
  return key;
}

/** The bytes after those of all keys of a list. */
export function afterList(run: number, list: string): Buffer {
  return runKeyStart(run, `${list}${String.fromCharCode(END_OF_LIST + 1)}`);
}

/** The bytes after those of all keys of lists that begin in that way; no byte of UTF-8 is the greatest one. */
export function afterStart(run: number, start: string): Buffer {
  if (start === '') return runKeyStart(run + 1, '');
  const last = String.fromCharCode(start.charCodeAt(start.length - 1) + 1);
  return runKeyStart(run, start.slice(0, -1) + last);
}
