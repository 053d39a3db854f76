// Reads the records that a page includes, as far as they fit on it.

import { memoize } from '../../db/cache.ts';
import type { RecordRow } from '../../db/engine/schema.ts';
import { TimeSlices } from '../../db/event-loop.ts';
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import type { Include } from '../../db/model/resources/includes.ts';
import { findUsersById } from '../../db/tables/accounts.ts';
import { PAGE_BYTES_MAX } from '../../db/tables/page-size.ts';
import { findStages, showStage } from '../../db/tables/pipelines.ts';
import { findRecords } from '../../db/tables/records.ts';
import { canSee } from '../access.ts';
import { presentAll } from './records.ts';
import type { Reader } from './rules.ts';

/** What the records of a page may include by one name: the IDs of each, newest first. */
export interface Wanted {
  include: Include;
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
    const { end, groups } = missingOf(found, wanted, { start: covered, total, atOnce });
    const sizes = new Map<string, number>();
    await Promise.all([...groups].map(([group, ids]) => found.read(group, [...ids], sizes)));
    if (found.bytes > PAGE_BYTES_MAX) return reach(wanted, sizes, { start: covered, end, bytes: before });
    covered = end;
  }
  return covered;
}

// What is missing of at least one record, and of more until there is about so much; `end` is the index after the last of them.
function missingOf(
  found: FoundRecords,
  wanted: readonly Wanted[],
  { start, total, atOnce }: { start: number; total: number; atOnce: number },
): { end: number; groups: ReadonlyMap<string, ReadonlySet<string>> } {
  const groups = new Map<string, Set<string>>();
  for (const { include } of wanted) groups.set(include.group, new Set());
  let end = start;
  for (let count = 0; end < total && (end === start || count < atOnce); end += 1) {
    for (const { include, ids } of wanted) {
      const missing = groups.get(include.group);
      for (const id of ids[end] ?? []) {
        if (missing === undefined || missing.has(id) || found.isRead(include.group, id)) continue;
        missing.add(id);
        count += 1;
      }
    }
  }
  return { end, groups };
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
  /** By group and ID; undefined for what is absent or hidden. */
  readonly #groups = new Map<string, { include: Include; records: Map<string, Data | undefined> }>();
  #count = 0;

  constructor(reader: Reader, includes: readonly Include[]) {
    this.#reader = reader;
    for (const include of includes) this.#groups.set(include.group, { include, records: new Map() });
  }

  get(group: string, id: string): Data | undefined {
    return this.#groups.get(group)?.records.get(id);
  }

  /** Whether it was looked for. */
  isRead(group: string, id: string): boolean {
    return this.#groups.get(group)?.records.has(id) === true;
  }

  /** How many more records fit, if they are like those read so far; at least one. */
  get roomFor(): number {
    const average = Math.max(1, this.bytes / Math.max(1, this.#count));
    const room = Math.floor((PAGE_BYTES_MAX - this.bytes) / average);
    return Math.min(AT_ONCE_MAX, Math.max(1, room));
  }

  /** Reads records of a group, and notes the bytes of each by its ID. */
  async read(group: string, ids: readonly string[], sizes: Map<string, number>): Promise<void> {
    const known = this.#groups.get(group);
    if (known === undefined || ids.length === 0) return;
    for (const id of ids) known.records.set(id, undefined);
    for (const record of await this.#find(known.include, ids, sizes))
      known.records.set(String(record.id), record);
  }

  async #find(
    { group, resource }: Include,
    ids: readonly string[],
    sizes: Map<string, number>,
  ): Promise<Data[]> {
    const { db, access } = this.#reader;
    if (group === 'users') {
      const users = await findUsersById(db, access.orgNumber, ids);
      return users.map(({ id, email, name }) => ({ id, email, name }));
    }
    if (resource === null) return (await findStages(db, access.orgNumber, ids)).map(showStage);
    const rows = await findRecords(db, resource, access.orgNumber, ids);
    const visible = rows.filter((row) => canSee(access, resource, row));
    const texts = textColumns(resource);
    for (const row of visible) {
      const bytes = bytesIn(row, texts);
      sizes.set(row.id, bytes);
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
