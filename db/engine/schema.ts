// The tables as Kysely types: accounts one by one, records by the shape they share.
import type { Kysely } from 'kysely';
import type { ColumnValue } from '../model/fields.ts';
import type { Resource, Row } from '../model/resource.ts';
import type { ChangeRow } from './change-row.ts';
import type { Engine } from './engine.ts';
import type { SearchPendingRow, SearchRow, SearchRunRow } from './search-rows.ts';
import type { TimelineRow } from './timeline-row.ts';
import type { TransactionEngine } from './transaction.ts';
import type { WebhookDeliveryRow, WebhookPassRow, WebhookRow, WebhookWaitingRow } from './webhook-rows.ts';

export interface OrganizationRow {
  /** The organization's key in all other tables; never shown outside the database. */
  number: number;
  id: string;
  name: string;
  name_key: string;
  created_at: number;
  /** Default lifetime of its keys, in milliseconds; null for unlimited. */
  key_lifetime: number | null;
  /** Bytes of request bodies that it can have in flight; null for the default. */
  body_bytes_max: number | null;
  /** Requests per minute of all its keys together; null for the limit of the server. */
  requests_per_minute: number | null;
}

/** What each write of an organization reads and stores. */
export interface OrgClockRow {
  org_id: number;
  /** The last instant of its writes, in Unix milliseconds. */
  instant: number;
  /** Number of records; null if not counted. */
  records: number | null;
  bytes: number | null;
  /** Maximum number of records; null for no limit. */
  records_max: number | null;
  bytes_max: number | null;
  /** The count that is in progress. */
  count_id: string | null;
  /** Size of its stored responses by hour, in the format of `stored-response-bytes.ts`. Null for none. */
  answer_bytes: string | null;
  /** Limit of that size; null for the default. */
  answer_bytes_max: number | null;
  /** The sequence number of its last change; 0 before the first one. */
  last_change: number;
  /** The lowest sequence number from which the log is complete. */
  oldest_change: number;
}

export interface UserRow {
  org_id: number;
  id: string;
  email: string;
  email_key: string;
  name: string | null;
  created_at: number;
}

export interface ApiKeyRow {
  org_id: number;
  id: string;
  /** Identifies the key within its organization; from 1. */
  number: number;
  api: string;
  prefix: string;
  name: string | null;
  /** Scopes, comma-separated. */
  scopes: string;
  access: string;
  user_id: string | null;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
  /** Networks that it can be used from, comma-separated; null for any. */
  networks: string | null;
  /** The value of its organization. */
  body_bytes_max: number | null;
  /** Requests per minute of this key; null for the limit of the server. */
  requests_per_minute: number | null;
  /** The value of its organization. */
  org_requests_per_minute: number | null;
}

export interface ApiKeySecretRow {
  org_id: number;
  key_id: string;
  /** SHA-256 of the key, hex. */
  hash: string;
  created_at: number;
  /** When the grace period after a rotation ends; null for the current secret. */
  expires_at: number | null;
}

export interface IdempotencyRow {
  org_id: number;
  principal: string;
  key: string;
  fingerprint: string;
  status: number;
  location: string | null;
  /** Empty if the body is packed; `tables/stored-response-text.ts` returns it in both cases. */
  body: string;
  created_at: number;
  /** The compressed body. */
  packed: Uint8Array | null;
  /** Bytes of the body as sent; this and the following columns are null if an older crm stored the response. */
  body_bytes: number | null;
  /** The size that the row counts as. */
  stored_bytes: number | null;
  /** The key that sent the request. */
  key_id: string | null;
}

/** An entry of the log of operator and key actions; `tables/audit.ts` explains its values. */
export interface AuditRow {
  /** 0 for entries that belong to no organization. */
  org_id: number;
  created_at: number;
  id: string;
  actor_type: string;
  actor: string;
  user_id: string | null;
  origin: string;
  action: string;
  target_type: string | null;
  target_id: string | null;
  request_id: string | null;
  /** JSON. */
  details: string | null;
}

export interface TranscriptRow {
  org_id: number;
  recording_id: string;
  language: string | null;
  /** JSON. */
  segments: string;
}

/** The ID of a record in another system. */
export interface ExternalIdRow {
  org_id: number;
  /** The resource of the record, plural. */
  resource: string;
  source: string;
  external_id: string;
  record_id: string;
  /** Unix milliseconds. */
  created_at: number;
}

export interface StageRow {
  org_id: number;
  id: string;
  pipeline_id: string;
  position: number;
  name: string;
  type: string;
  probability: number | null;
}

/** A part of the database that is not yet filled in for an organization. */
export interface BackfillRow {
  org_id: number;
  name: string;
  /** How far it is, in a form of its own; null before it began. */
  place: string | null;
  /** Number of records read so far. */
  records: number;
  /** Number of records there were at the beginning; null before it began. */
  total: number | null;
}

/** A record in stored form; its declaration determines the columns. */
export type RecordRow = Row & { id: string; created_at: number; updated_at: number };

/** The columns that all link tables have, besides those of the parent, the child and the link itself. */
export type LinkRow = Row & { org_id: number; created_at: number };

export interface Schema {
  organizations: OrganizationRow;
  users: UserRow;
  api_keys: ApiKeyRow;
  api_key_secrets: ApiKeySecretRow;
  idempotency_keys: IdempotencyRow;
  audit_log: AuditRow;
  org_clocks: OrgClockRow;
  settings: { name: string; value: string };
  pipeline_stages: StageRow;
  contact_emails: { org_id: number; email_key: string; contact_id: string };
  recording_transcripts: TranscriptRow;
  external_ids: ExternalIdRow;
  changes: ChangeRow;
  timeline_entries: TimelineRow;
  search_runs: SearchRunRow;
  search_rows: SearchRow;
  search_pending: SearchPendingRow;
  webhooks: WebhookRow;
  webhook_passes: WebhookPassRow;
  webhook_waiting: WebhookWaitingRow;
  webhook_deliveries: WebhookDeliveryRow;
  backfills: BackfillRow;
  /** Stands for the table of any record; `tableOf` and `linkTable` return the real name. */
  records: RecordRow & { org_id: number };
  links: LinkRow;
}

/** The tables of a database; frequent queries go straight to its engine, through `statement`. */
export type Db = Kysely<Schema> & { readonly engine: Engine & Pipelining };

/** The same in a transaction. */
export type Trx = Kysely<Schema> & { readonly engine: TransactionEngine & Pipelining };

export interface Pipelining {
  /**
   * The tables over one connection, which pipelines statements: nobody has to wait for an answer, and yet each statement runs
   * after those before it, and sees at least what they saw.
   */
  pipelined(): Db;
}

declare const knowsAuthor: unique symbol;

/** A transaction that can write records and links, because it knows who does: `actingAs` makes it. */
export type RecordTrx = Trx & { readonly [knowsAuthor]: true };

/** Identifies a record, or another row of an organization. */
export interface RecordKey {
  /** The organization's number. */
  orgNumber: number;
  id: string;
}

export type ColumnMap = Record<string, ColumnValue>;

/** The table of a resource, typed as what all records share. */
export function tableOf(resource: Pick<Resource, 'name'>): 'records' {
  return resource.name as 'records';
}

/** A link table by its name, typed as what all links share. */
export function linkTable(name: string): 'links' {
  return name as 'links';
}
