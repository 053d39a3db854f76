// What responses include besides their data, for those who look it up and those who write it down.

/** A record, user or stage that a response includes besides its data. */
export interface IncludedRecord {
  readonly id: string;
  /** JSON, as the response shows it; null for what is absent or hidden. */
  json: string | null;
}

/** What a response includes besides its data, by group: the plural of a resource, `users` or `stages`. */
export interface IncludedRecords {
  whole: ReadonlyMap<string, ReadonlySet<IncludedRecord>>;
  /** What the item with that index includes; other items can include the same. */
  of: (index: number) => readonly (readonly [group: string, record: IncludedRecord])[];
}
