// Rows of the search index, and of what it does not have yet.
import type { Row } from '../model/resource.ts';

/** A block of the list of a word in the search index. */
export interface SearchWordsRow {
  org_id: number;
  /** As `tables/search-lists.ts` names it. */
  word: Uint8Array;
  /** The place of its oldest record. */
  first: Uint8Array;
  /** As `tables/search-blocks.ts` makes it. */
  entries: Uint8Array;
}

/** A record that was created, changed, deleted or restored. */
export interface SearchNote {
  orgNumber: number;
  /** The number of its resource, as in `tables/search-resources.ts`. */
  resource: number;
  id: string;
  /** The columns that the index may have words of, as they were; null if it has none. */
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
