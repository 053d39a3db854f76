// Rows of the search index, and of what it does not have yet.
import type { Row } from '../model/resource.ts';

/** A run of the search index: sorted rows, which were written together. */
export interface SearchRunRow {
  org_id: number;
  run: number;
  /** Newer runs have greater ages; what a newer one says of a record holds. */
  age: number;
  bytes: number;
  /** How many removals from lists of older runs it contains. */
  removals: number;
  /** The places of its oldest and its newest record. */
  low: Uint8Array;
  high: Uint8Array;
  /** 0 as long as others are being merged into it; `done` is the key up to which they are. */
  is_built: number;
  done: Uint8Array | null;
  /** The run that it is, or was, merged into. */
  merged_into: number | null;
  /** Since when that run replaces it, in Unix milliseconds. */
  gone_at: number | null;
}

/** Lists of the search index, or a part of one. */
export interface SearchRow {
  org_id: number;
  /** As `search/keys.ts` makes it. */
  key: Uint8Array;
  /** As `search/packing.ts` makes it. */
  entries: Uint8Array;
}

/** A record that was created, changed, deleted or restored. */
export interface SearchNote {
  orgNumber: number;
  /** The number of its resource, as in `search/resources.ts`. */
  resource: number;
  id: string;
  /** The columns that the index may have words of, as they were; null if the index has nothing of the record. */
  before: Row | null;
}

/** Records as a row contains them, in JSON. */
export type PendingRecord = [resource: number, id: string, before?: Row];

export interface SearchPendingRow {
  org_id: number;
  /** UUIDv7. */
  id: string;
  /** How many records it contains. */
  records: number;
  /** JSON: a list of `PendingRecord`. */
  entries: string;
}
