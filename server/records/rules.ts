// What a resource can add to the common handling of a record: checks, derived fields, further writes.

import type { Db, RecordTrx } from '../../db/engine/schema.ts';
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import type { UniqueValue } from '../../db/model/rules.ts';
import type { LoggedDelete } from '../../db/records/undeletion.ts';
import type { Access } from '../access.ts';
import type { ApiError, Detail } from '../errors.ts';

/** A create or an update in progress. */
export interface Change {
  trx: RecordTrx;
  access: Access;
  /** Unix milliseconds. */
  now: number;
  resource: Resource;
  id: string;
  /** The record before; null for a create. */
  current: Data | null;
  /** The fields the client sent. */
  input: Data;
  /** The unique values among them. */
  unique: readonly UniqueValue[];
  /** The record after, as it will be shown; rules can complete it. */
  next: Data;
  /** Faults found so far; a change with faults is rejected with all of them. */
  faults: Detail[];
  /** All changes that are checked together, including this one; rules make their lookups for all of them. */
  batch: readonly Change[];
}

/** Who reads a record. */
export interface Reader {
  db: Db;
  access: Access;
}

/** Who writes, where and when. */
export interface Writer extends Reader {
  db: RecordTrx;
  /** Unix milliseconds. */
  now: number;
}

/** The record after a create: newly written, or an existing duplicate. */
export interface Created {
  id: string;
  /** Whether it was written, with the content of `next`. */
  isNew: boolean;
  /** Whether `next` contains the computed fields as well. */
  isComplete: boolean;
  /** What the response contains beyond the record. */
  extra: Data;
}

export interface Rules {
  /** Completes `next` and adds to `faults`. */
  prepare?(change: Change): Promise<void> | void;
  /** Adapts the fields of an upsert to the record that it found by the value with that name. */
  onMatch?(upsert: { fields: Data; current: Data; matchedBy: string }): Data;
  /** Whether the change can be checked only once an earlier one of its batch is written. */
  dependsOn?(change: Change, earlier: Change): boolean;
  /** Rejects a change that conflicts with other records (409). */
  claim?(change: Change): Promise<void>;
  /** Writes data stored outside the record's table, after the records that were created or changed together. */
  afterWrite?(writer: Writer, changes: readonly Change[]): Promise<void> | void;
  /** Replaces the common insert; runs after all checks. */
  create?(change: Change): Promise<Created>;
  /** The records, by ID, that must not be deleted, and why (409). */
  refuseDeletes?(reader: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, ApiError>>;
  /** Adapts a deleted record to what exists now, before it is restored, or rejects that (409, 422). */
  beforeUndelete?(writer: Writer, record: Data, logged: LoggedDelete): Promise<void>;
  /**
   * Looks up computed fields by the IDs of records, some of which may not exist; returns what fills in those of a record.
   * Runs while the records are read, if their IDs are known.
   */
  findComputed?(reader: Reader, ids: readonly string[]): Promise<FillIn>;
  /** Fills in the computed fields that depend on other fields of the records. */
  present?(reader: Reader, records: Data[]): Promise<void>;
}

/** Sets computed fields of a record. */
export type FillIn = (record: Data) => void;
