// Reads the records that a page includes, as far as they fit on it.

import { findUserNames } from '../../db/accounts/accounts.ts';
import { TimeSlices } from '../../db/event-loop.ts';
import type { Data } from '../../db/model/json.ts';
import type { Include } from '../../db/model/resources/includes.ts';
import { findStages, showStage } from '../../db/records/pipelines.ts';
import { findRecords } from '../../db/records/records.ts';
import { PAGE_BYTES_MAX } from '../../db/tables/page-size.ts';
import { canSee } from '../access.ts';
import type { IncludedRecord } from '../included.ts';
import { presentAll } from './records.ts';
import type { Reader } from './rules.ts';

/** The records of a resource, users or stages that a page includes. */
export interface IncludedGroup {
  include: Include;
  /** By ID, once they are looked for. */
  records: Map<string, IncludedRecord>;
  /** The IDs of those that are looked for next. */
  next: string[];
}

/** What the records of a page may include by one name. */
export interface Wanted {
  name: string;
  group: IncludedGroup;
  /** The IDs of each, newest first. */
  ids: readonly (readonly string[])[];
  /** The same, for those records of the page for which it is looked for. */
  records: IncludedRecord[][];
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
    covered = lookForMissing(wanted, { start: covered, total, atOnce });
    await found.read();
    if (found.bytes > PAGE_BYTES_MAX) return reach(wanted, covered);
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
    for (const { group, ids, records } of wanted) {
      const before = group.next.length;
      records[end] = (ids[end] ?? []).map((id) => recordOf(group, id));
      count += group.next.length - before;
    }
  }
  return end;
}

function recordOf({ records, next }: IncludedGroup, id: string): IncludedRecord {
  const known = records.get(id);
  if (known !== undefined) return known;
  const record = { id, json: null };
  records.set(id, record);
  next.push(id);
  return record;
}

// The index after the record that exceeds the size with what no record before it includes.
function reach(wanted: readonly Wanted[], end: number): number {
  const counted = new Set<IncludedRecord>();
  let bytes = 0;
  let index = 0;
  for (; index < end && bytes <= PAGE_BYTES_MAX; index += 1) {
    for (const record of wanted.flatMap(({ records }) => records[index] ?? [])) {
      if (counted.has(record)) continue;
      counted.add(record);
      bytes += Buffer.byteLength(record.json ?? '');
    }
  }
  return index;
}

/** The records that a page includes, each read once. */
export class FoundRecords {
  /** Bytes of all that was read. */
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

  /** Reads what all groups look for. */
  async read(): Promise<void> {
    await Promise.all([...this.#groups.values()].map((group) => this.#readOf(group)));
  }

  async #readOf(group: IncludedGroup): Promise<void> {
    const ids = group.next;
    if (ids.length === 0) return;
    group.next = [];
    for (const shown of await this.#find(group.include, ids)) {
      const record = group.records.get(String(shown.id));
      if (record === undefined) continue;
      record.json = JSON.stringify(shown);
      this.bytes += Buffer.byteLength(record.json);
      this.#count += 1;
    }
  }

  async #find({ group, resource }: Include, ids: readonly string[]): Promise<readonly Data[]> {
    const { db, access } = this.#reader;
    if (group === 'users') return [...(await findUserNames(db, access.orgNumber, ids))];
    if (resource === null) return (await findStages(db, access.orgNumber, ids)).map(showStage);
    const rows = await findRecords(db, resource, access.orgNumber, ids);
    const visible = rows.filter((row) => canSee(access, resource, row));
    return presentAll(this.#reader, resource, visible);
  }
}
