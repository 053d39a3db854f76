// The types of the demo data: records with keys instead of IDs, which exist only once the server assigns them.
import type { Data } from '../../../db/model/json.ts';

/** A record to create; its reference fields hold keys of other records, such as `companies/12`. */
export interface DemoRecord {
  readonly key: string;
  readonly data: Data;
}

/** IDs from the server, by key of the demo data. */
export type Ids = Map<string, string>;

/** A link to create: POST to the sub-resource of a record; ids in the body are keys. */
export interface DemoLink {
  readonly parent: string;
  readonly name: string;
  readonly body: Readonly<Record<string, string>>;
}

export interface DemoUser {
  readonly key: string;
  readonly name: string;
  readonly email: string;
}

export interface DemoData {
  readonly users: readonly DemoUser[];
  /** Records to create over HTTP, by resource, in an order in which every reference points backwards. */
  readonly records: Readonly<Record<WritableName, readonly DemoRecord[]>>;
  readonly links: readonly DemoLink[];
  /** Entries for ingest, as calendar, call-recording and scheduling tools would deliver them; with keys instead of IDs. */
  readonly meetings: readonly Data[];
  readonly recordings: readonly Data[];
  readonly bookings: readonly Data[];
}

export const WRITABLE = [
  'companies',
  'contacts',
  'deals',
  'tasks',
  'notes',
  'segments',
  'interactions',
] as const;
export type WritableName = (typeof WRITABLE)[number];

export const READ_ONLY = ['meetings', 'recordings', 'bookings'] as const;
export type ReadOnlyName = (typeof READ_ONLY)[number];
