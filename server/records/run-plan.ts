// What a run of creates and updates works with: the plan of each item, what will be written for it, and its result.

import type { RecordRow } from '../../db/engine/schema.ts';
import type { ExternalId } from '../../db/model/external-ids.ts';
import type { Data } from '../../db/model/json.ts';
import type { Row } from '../../db/model/resource.ts';
import type { ApiError } from '../errors.ts';
import type { KnownExternalIds } from './external-ids.ts';
import type { KnownRecords } from './lookups.ts';
import type { Change } from './rules.ts';

/** What became of an item: the record as shown, or why it was rejected. */
export type Result = SavedRecord | ApiError;

export interface SavedRecord {
  status: 'created' | 'updated' | 'unchanged';
  record: Data;
  /** What an upsert found the record by; null if it was created. */
  matchedBy: string | null;
}

/** What is to be done for an item. */
export interface PlannedChange {
  change: Change;
  /** The record as stored; null for a create. */
  row: RecordRow | null;
  /** The external ID that it gets. */
  externalId?: ExternalId | null;
  /** What an upsert found the record by. */
  matchedBy?: string | null;
}

/** The plans for the items of a run, made from lookups for all of them. */
export interface RunPlan {
  /** For each item its plan, or why it is rejected. */
  plans: readonly (PlannedChange | ApiError)[];
  known: KnownRecords;
  /** For items that add external IDs. */
  externalIds?: KnownExternalIds;
  /** Whether an earlier item of the run has changed which record the item with that index is about. */
  isOutdated?: (index: number) => boolean;
}

/** An item that was accepted, and what will be written for it. */
export interface Accepted {
  /** Its place among the items of the run. */
  index: number;
  change: Change;
  /** The record as stored; null for a create. */
  row: RecordRow | null;
  /** The columns of an update, none for a create; null if the record stays as it is. */
  columns: Row | null;
  externalId: ExternalId | null;
}
