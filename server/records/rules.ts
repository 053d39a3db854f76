// What a resource may add to the common life of a record: checks, derived fields, what is written beside it.

import type { Db } from '../../db/engine/schema.ts';
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import type { UniqueValue } from '../../db/model/rules.ts';
import type { Access } from '../access.ts';
import type { Detail } from '../errors.ts';

/** A create or an update on its way. */
export interface Change {
  trx: Db;
  access: Access;
  /** Unix milliseconds. */
  now: number;
  resource: Resource;
  id: string;
  /** The record before; null in a create. */
  current: Data | null;
  /** The fields the client sent. */
  input: Data;
  /** The unique values among them. */
  unique: readonly UniqueValue[];
  /** The record after, as it will be shown; rules may complete it. */
  next: Data;
  /** Faults found so far; a change with any is refused with all of them. */
  faults: Detail[];
  /** All changes that are checked together, this one included: what rules look up for one of them they do for all. */
  batch: readonly Change[];
}

/** Whoever reads a record. */
export interface Reader {
  db: Db;
  access: Access;
}

/** Who writes, where and when. */
export interface Writer extends Reader {
  /** Unix milliseconds. */
  now: number;
}

/** The record that stands after a create: written by it, or there already. */
export interface Created {
  id: string;
  /** Whether the change wrote it, as its `next` says. */
  isNew: boolean;
  /** Whether that has what is computed as well. */
  isComplete: boolean;
  /** What the answer carries beyond the record. */
  extra: Data;
}

export interface Rules {
  /** Completes `next` and adds to `faults`. */
  prepare?(change: Change): Promise<void> | void;
  /** Refuses a change that conflicts with other records (409). */
  claim?(change: Change): Promise<void>;
  /** Writes what belongs to the records but is stored elsewhere: of an update, or of all that a batch creates. */
  afterWrite?(writer: Writer, changes: readonly Change[]): Promise<void>;
  /** Takes the place of the common insert; all checks come before it. */
  create?(change: Change): Promise<Created>;
  /** Refuses a delete (409). */
  beforeDelete?(change: Pick<Change, 'trx' | 'access' | 'id'>): Promise<void>;
  /** Fills in the computed fields of records that are about to be shown. */
  present?(reader: Reader, records: Data[]): Promise<void>;
}
