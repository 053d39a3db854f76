// Reads the records that a page includes, as far as they fit on it.

import { memoize } from '../../db/cache.ts';
import type { RecordRow } from '../../db/engine/schema.ts';
import { TimeSlices } from '../../db/event-loop.ts';
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import type { Include } from '../../db/model/resources/includes.ts';
import { findUserNames } from '../../db/tables/accounts.ts';
import { PAGE_BYTES_MAX } from '../../db/tables/page-size.ts';
import { findStages, showStage } from '../../db/tables/pipelines.ts';
import { findRecords } from '../../db/tables/records.ts';
import { canSee } from '../access.ts';
import { presentAll } from './records.ts';
import type { Reader } from './rules.ts';

/** The records of a resource, users or stages that a page includes. */
export interface IncludedGroup {
  include: Include;
  /** By ID, once they are looked for; undefined for what is absent or hidden. */
  records: Map<string, Data | undefined>;
  /** The IDs of those that are looked for next. */
  next: string[];
}

/** What the records of a page may include by one name: the IDs of each, newest first. */
export interface Wanted {
  name: string;
  group: IncludedGroup;
  ids: readonly (readonly string[])[];
}

// At most about thirty megabytes.
const FIRST_AT_ONCE = 50;
// A few milliseconds' worth.
const AT_ONCE_MAX = 1_000;

/**
 * Reads what records include, in their order, until it is as large as a page can be.
 * @returns how many of the records that covers: all, or those up to the one that exceeds the size
 */
export async function readWhatFits(
  found: FoundRecords,
  wanted: readonly Wanted[],
  total: number,
): Promise<number> {
  const turns = new TimeSlices();
  let covered = 0;
  for (let atOnce = FIRST_AT_ONCE; covered < total; atOnce = found.roomFor) {
    if (turns.isOver) await turns.next();
    const before = found.bytes;
    const end = lookForMissing(wanted, { start: covered, total, atOnce });
    const sizes = await found.read();
    if (found.bytes > PAGE_BYTES_MAX)
      return reach(wanted, new Map(sizes), { start: covered, end, bytes: before });
    covered = end;
  }
  return covered;
}

// Looks for what is missing of at least one record, and of more until it is about so much; returns the index after the last of them.
function lookForMissing(
  wanted: readonly Wanted[],
  { start, total, atOnce }: { start: number; total: number; atOnce: number },
): number {
  let end = start;
  for (let count = 0; end < total && (end === start || count < atOnce); end += 1) {
    for (const { group, ids } of wanted) {
      for (const id of ids[end] ?? []) {
        if (group.records.has(id)) continue;
        group.records.set(id, undefined);
        group.next.push(id);
        count += 1;
      }
    }
  }
  return end;
}

// The index after the record that exceeds the size with what no record before it includes.
function reach(
  wanted: readonly Wanted[],
  sizes: Map<string, number>,
  { start, end, bytes }: { start: number; end: number; bytes: number },
): number {
  let sum = bytes;
  let index = start;
  for (; index < end && sum <= PAGE_BYTES_MAX; index += 1) {
    for (const { ids } of wanted) {
      for (const id of ids[index] ?? []) {
        sum += sizes.get(id) ?? 0;
        sizes.delete(id);
      }
    }
  }
  return index;
}

/** The records that a page includes, each read once. */
export class FoundRecords {
  /** Bytes of all that was read, about. */
  bytes = 0;
  readonly #reader: Reader;
  readonly #groups = new Map<string, IncludedGroup>();
  #count = 0;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** The group in which the response has what is included. */
  groupOf(include: Include): IncludedGroup {
    return this.#groups.getOrInsertComputed(include.group, () => ({ include, records: new Map(), next: [] }));
  }

  /** How many more records fit, if they are like those read so far; at least one. */
  get roomFor(): number {
    const average = Math.max(1, this.bytes / Math.max(1, this.#count));
    const room = Math.floor((PAGE_BYTES_MAX - this.bytes) / average);
    return Math.min(AT_ONCE_MAX, Math.max(1, room));
  }

  /** Reads what all groups look for, and returns the bytes of each record by its ID. */
  async read(): Promise<[id: string, bytes: number][]> {
    const sizes: [string, number][] = [];
    await Promise.all([...this.#groups.values()].map((group) => this.#readOf(group, sizes)));
    return sizes;
  }

  async #readOf(group: IncludedGroup, sizes: [string, number][]): Promise<void> {
    const ids = group.next;
    if (ids.length === 0) return;
    group.next = [];
    for (const record of await this.#find(group.include, ids, sizes))
      group.records.set(String(record.id), record);
  }

  async #find(
    { group, resource }: Include,
    ids: readonly string[],
    sizes: [string, number][],
  ): Promise<Data[]> {
    const { db, access } = this.#reader;
    if (group === 'users') return [...(await findUserNames(db, access.orgNumber, ids))];
    if (resource === null) return (await findStages(db, access.orgNumber, ids)).map(showStage);
    const rows = await findRecords(db, resource, access.orgNumber, ids);
    const visible = rows.filter((row) => canSee(access, resource, row));
    const texts = textColumns(resource);
    for (const row of visible) {
      const bytes = bytesIn(row, texts);
      sizes.push([row.id, bytes]);
      this.bytes += bytes;
    }
    this.#count += visible.length;
    return presentAll(this.#reader, resource, visible);
  }
}

const textColumns = memoize(({ fields }: Resource): string[] =>
  Object.entries(fields).flatMap(([name, { column, references }]) =>
    column === 'text' && references === undefined ? [name] : [],
  ),
);

// What a record takes besides its texts, at least.
const RECORD_BYTES = 256;
// Texts up to this length are measured by their characters; the response is larger than that.
const SHORT_TEXT = 100;

function bytesIn(row: RecordRow, texts: readonly string[]): number {
  let bytes = RECORD_BYTES;
  for (const name of texts) {
    const value = row[name];
    if (typeof value !== 'string') continue;
    bytes += value.length > SHORT_TEXT ? Buffer.byteLength(value) : value.length;
  }
  return bytes;
}
