// What responses include besides their data, for those who look it up and those who write it down.
import type { Data } from '../db/model/json.ts';

/** A record that a response includes besides its data. */
export interface IncludedRecord {
  /** The plural of its resource, `users` or `stages`. */
  group: string;
  id: string;
  record: Data;
}

/** What a response includes besides its data. */
export interface IncludedRecords {
  /** All of it, by group and ID. */
  whole: ReadonlyMap<string, ReadonlyMap<string, Data>>;
  /** What the item with that index includes; other items can include the same. */
  of: (index: number) => readonly IncludedRecord[];
}
