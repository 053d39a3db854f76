// Records that are created together take one row of the log: a run, with the sequence number of its last change.

import type { NewChange } from '../engine/change-log.ts';
import type { ChangeRow } from '../engine/change-row.ts';
import type { ColumnValue } from '../model/fields.ts';
import type { Direction } from '../tables/list-query.ts';

// Longer rows would take a page of a SQLite file of their own.
const RUN_MAX = 50;
const RUN_MAX_OF_OWNERS = 25;

const UUID_BYTES = 16;

/** A record that was created. */
export interface CreatedRecord {
  id: string;
  /** Null if it has none, or its resource has no owners. */
  owner: ColumnValue;
}

/**
 * The rows for records that are created one after another.
 * @param single makes the row of one
 */
export function runsOf(
  created: readonly CreatedRecord[],
  single: (record: CreatedRecord) => NewChange,
): NewChange[] {
  const rows: NewChange[] = [];
  const size = created.every(({ owner }) => owner === created[0]?.owner) ? RUN_MAX : RUN_MAX_OF_OWNERS;
  for (let from = 0; from < created.length; from += size) {
    const some = created.slice(from, from + size);
    const [first] = some;
    const run = runOf(some);
    if (run === null || first === undefined) rows.push(...some.map(single));
    else rows.push({ ...single(first), ...run });
  }
  return rows;
}

/** The row for these records; null if they need one row each. */
export function runOf(
  created: readonly CreatedRecord[],
): Pick<NewChange, 'record' | 'owner' | 'count'> | null {
  const count = created.length;
  const record = uuidsBytes(created.map(({ id }) => id));
  if (count < 2 || record === null || !isRun(record)) return null;
  const owner = created[0]?.owner ?? null;
  if (owner === null && created.every((one) => one.owner === null)) return { record, owner: null, count };
  const isCommon = created.every((one) => one.owner === owner);
  const owners = (isCommon ? created.slice(0, 1) : created).map((one) => String(one.owner ?? NO_OWNER));
  const bytes = uuidsBytes(owners);
  return bytes && { record, owner: bytes, count };
}

// IDs that are no UUIDs can be as long, but begin with zeros.
function isRun(record: Uint8Array): boolean {
  return record.length > UUID_BYTES && record[0] !== 0;
}

const UUID_LENGTH = 36;
const NO_OWNER = '00000000-0000-0000-0000-000000000000';
const NO_OWNER_BYTES = Buffer.alloc(UUID_BYTES);

// All at once, which is faster; null if one is not a UUID.
function uuidsBytes(ids: readonly string[]): Buffer | null {
  if (ids.some((id) => id.length !== UUID_LENGTH)) return null;
  const digits = ids.join('').replaceAll('-', '');
  const bytes = Buffer.from(digits, 'hex');
  const length = ids.length * UUID_BYTES;
  return digits.length === 2 * length && bytes.length === length ? bytes : null;
}

/** The number of changes in a row. */
export function changesIn({ record }: Pick<ChangeRow, 'record'>): number {
  return isRun(record) ? record.length / UUID_BYTES : 1;
}

/** What is wanted of a row: the changes with these sequence numbers, in this order. */
interface Wanted {
  from: number;
  to: number;
  direction: Direction;
}

/** The changes in a row. */
export function changesOf(row: ChangeRow, { from, to, direction }: Wanted): ChangeRow[] {
  const count = changesIn(row);
  if (count === 1) return [row];
  const start = row.sequence - count + 1;
  const changes: ChangeRow[] = [];
  for (let sequence = Math.max(from, start); sequence <= Math.min(to, row.sequence); sequence++)
    changes.push(changeAt(row, sequence, sequence - start));
  return direction === 'asc' ? changes : changes.reverse();
}

function changeAt(
  { org_id, at, action, resource, record, actor, request, cause, owner, data, company }: ChangeRow,
  sequence: number,
  index: number,
): ChangeRow {
  const own = partAt(record, index);
  // Without spreading, which costs more than all else here.
  return {
    org_id,
    sequence,
    at,
    action,
    resource,
    record: own,
    actor,
    request,
    cause,
    owner: ownerAt(owner, index),
    data,
    company,
  };
}

function partAt(bytes: Uint8Array, index: number): Uint8Array {
  return bytes.subarray(index * UUID_BYTES, (index + 1) * UUID_BYTES);
}

// Of all, or of each.
function ownerAt(owner: Uint8Array | null, index: number): Uint8Array | null {
  if (owner === null || owner.length === UUID_BYTES) return owner;
  const own = partAt(owner, index);
  return NO_OWNER_BYTES.equals(own) ? null : own;
}
