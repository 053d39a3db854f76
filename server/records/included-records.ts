// Reads the records that a page includes, as far as they fit on it.

import type { RecordRow } from '../../db/engine/schema.ts';
import { TimeSlices } from '../../db/event-loop.ts';
import type { Data } from '../../db/model/json.ts';
import type { Include } from '../../db/model/resources/includes.ts';
import { findUsersById } from '../../db/tables/accounts.ts';
import { PAGE_BYTES_MAX } from '../../db/tables/page-size.ts';
import { findStages, showStage } from '../../db/tables/pipelines.ts';
import { findRecords } from '../../db/tables/records.ts';
import { canSee } from '../access.ts';
import { presentAll } from './records.ts';
import type { Reader } from './rules.ts';

/** What a record may include, by name. */
export type Wanted = readonly { include: Include; ids: readonly string[] }[];

// At most about thirty megabytes.
const FIRST_AT_ONCE = 50;
// A few milliseconds' worth.
const AT_ONCE_MAX = 1_000;

/**
 * Reads what records include, in their order, until it is as large as a page can be.
 * @returns how many of the records that covers: all, or those up to the one that exceeds the size
 */
export async function readWhatFits(found: FoundRecords, records: readonly Wanted[]): Promise<number> {
  const turns = new TimeSlices();
  let covered = 0;
  let bytes = 0;
  for (let atOnce = FIRST_AT_ONCE; covered < records.length; ) {
    if (turns.isOver) await turns.next();
    const end = await found.read(records, covered, atOnce);
    for (; covered < end; covered += 1) {
      if (bytes > PAGE_BYTES_MAX) return covered;
      bytes += found.count(records[covered] ?? []);
    }
    atOnce = found.roomFor(PAGE_BYTES_MAX - bytes);
  }
  return covered;
}

/** The records that a page includes, each read once. */
export class FoundRecords {
  readonly #reader: Reader;
  /** By group and ID; undefined for what is absent or hidden. */
  readonly #groups = new Map<string, { include: Include; records: Map<string, Data | undefined> }>();
  /** Bytes of what was read and not counted yet, by the record's ID. */
  readonly #sizes = new Map<string, number>();
  #read = 0;
  #bytes = 0;

  constructor(reader: Reader, includes: readonly Include[]) {
    this.#reader = reader;
    for (const include of includes) this.#groups.set(include.group, { include, records: new Map() });
  }

  get(group: string, id: string): Data | undefined {
    return this.#groups.get(group)?.records.get(id);
  }

  /**
   * Reads what some of the records include: of at least one, and of more until there are about so many.
   * @returns the index after the last of them
   */
  async read(records: readonly Wanted[], start: number, atOnce: number): Promise<number> {
    const missing = new Map<string, Set<string>>();
    let end = start;
    for (let count = 0; end < records.length && (end === start || count < atOnce); end += 1) {
      for (const { include, ids } of records[end] ?? []) {
        const known = this.#groups.get(include.group)?.records;
        const wanted = missing.getOrInsertComputed(include.group, () => new Set());
        for (const id of ids) {
          if (known?.has(id) || wanted.has(id)) continue;
          wanted.add(id);
          count += 1;
        }
      }
    }
    await Promise.all([...missing].map(([group, ids]) => this.#readGroup(group, [...ids])));
    return end;
  }

  /** Bytes of what a record includes, as far as no record before it does. */
  count(wanted: Wanted): number {
    let bytes = 0;
    for (const { ids } of wanted) {
      for (const id of ids) {
        bytes += this.#sizes.get(id) ?? 0;
        this.#sizes.delete(id);
      }
    }
    return bytes;
  }

  /** How many records there is room for, if they are like those read so far. */
  roomFor(bytes: number): number {
    const average = Math.max(1, this.#bytes / Math.max(1, this.#read));
    return Math.min(AT_ONCE_MAX, Math.max(1, Math.floor(bytes / average)));
  }

  async #readGroup(group: string, ids: readonly string[]): Promise<void> {
    const known = this.#groups.get(group);
    if (known === undefined || ids.length === 0) return;
    for (const id of ids) known.records.set(id, undefined);
    for (const record of await this.#find(known.include, ids)) known.records.set(String(record.id), record);
  }

  async #find({ group, resource }: Include, ids: readonly string[]): Promise<Data[]> {
    const { db, access } = this.#reader;
    if (group === 'users') {
      const users = await findUsersById(db, access.orgNumber, ids);
      return users.map(({ id, email, name }) => ({ id, email, name }));
    }
    if (resource === null) return (await findStages(db, access.orgNumber, ids)).map(showStage);
    const rows = await findRecords(db, resource, access.orgNumber, ids);
    const visible = rows.filter((row) => canSee(access, resource, row));
    for (const row of visible) this.#measure(row);
    return presentAll(this.#reader, resource, visible);
  }

  #measure(row: RecordRow): void {
    const bytes = bytesIn(row);
    this.#sizes.set(row.id, bytes);
    this.#bytes += bytes;
    this.#read += 1;
  }
}

// Texts up to this length are measured by their characters; the response is larger than that.
const SHORT_TEXT = 100;

function bytesIn(row: RecordRow): number {
  let bytes = 0;
  for (const name in row) {
    const value = row[name];
    if (typeof value !== 'string') continue;
    bytes += value.length > SHORT_TEXT ? Buffer.byteLength(value) : value.length;
  }
  return bytes;
}
