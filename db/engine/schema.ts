// The tables as Kysely sees them: the accounts typed one by one, the records by the shape they share.
import type { Kysely } from 'kysely';
import type { ColumnValue } from '../model/fields.ts';
import type { Resource, Row } from '../model/resource.ts';
import type { Engine } from './engine.ts';

export interface OrganizationRow {
  /** What every other row knows it by; nobody outside the database is shown it. */
  number: number;
  id: string;
  name: string;
  name_key: string;
  created_at: number;
  /** How long its keys last unless said, in milliseconds; null for without an end. */
  key_lifetime: number | null;
  /** Bytes of request bodies that it may have under way; null for as many as any other. */
  body_bytes_max: number | null;
}

/** What each write of an organization reads and stores. */
export interface OrgClockRow {
  org_id: number;
  /** Of its writes, Unix milliseconds. */
  last_instant: number;
  /** What it holds; null while that is not counted. */
  records: number | null;
  bytes: number | null;
  /** What it may hold at most; null for without a limit. */
  records_max: number | null;
  bytes_max: number | null;
  /** The count that is under way. */
  count_id: string | null;
  /** What its stored answers take, by the hour; `stored-response-bytes.ts` reads it. Null for nothing. */
  answer_bytes: string | null;
  /** What they may take; null for as much as those of any other. */
  answer_bytes_max: number | null;
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
  /** Those it may be used from, comma-separated; null for from anywhere. */
  networks: string | null;
  /** That of its organization. */
  body_bytes_max: number | null;
}

export interface ApiKeySecretRow {
  org_id: number;
  key_id: string;
  /** SHA-256 of the key, hex. */
  hash: string;
  created_at: number;
  /** End of the grace after a rotation; null for the current secret. */
  expires_at: number | null;
}

export interface IdempotencyRow {
  org_id: number;
  principal: string;
  key: string;
  fingerprint: string;
  status: number;
  location: string | null;
  /** Empty where it is packed; `tables/answer-text.ts` gives it in either case. */
  body: string;
  created_at: number;
  /** The body, compressed. */
  packed: Uint8Array | null;
  /** Bytes of the body as it is sent; this and what follows is null where an older crm stored the answer. */
  body_bytes: number | null;
  /** What the row counts for. */
  stored_bytes: number | null;
  /** The key that asked. */
  key_id: string | null;
}

/** An entry of the log of what operators and keys did; `tables/audit.ts` says what its words mean. */
export interface AuditRow {
  /** 0 for what belongs to no organization. */
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

export interface StageRow {
  org_id: number;
  id: string;
  pipeline_id: string;
  position: number;
  name: string;
  type: string;
  probability: number | null;
}

/** A record in the form in which it is stored; which columns it has follows from its declaration. */
export type RecordRow = Row & { id: string; created_at: number; updated_at: number };

/** What every table of links has, its parent's, child's and own columns beside. */
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
  /** Stands for any record's table; `tableOf` and `linkTable` give the real name. */
  records: RecordRow & { org_id: number };
  links: LinkRow;
}

/** The tables of a database; what runs often goes straight to its engine, by `statement`. */
export type Db = Kysely<Schema> & { readonly engine: Engine };

/** What finds a record, or whatever else belongs to an organization. */
export interface RecordKey {
  /** The organization's number. */
  orgId: number;
  id: string;
}

export type ColumnMap = Record<string, ColumnValue>;

/** The table of a resource, typed as what all records share. */
export function tableOf(resource: Pick<Resource, 'name'>): 'records' {
  return resource.name as 'records';
}

/** A table of links by its name, typed as what all links share. */
export function linkTable(name: string): 'links' {
  return name as 'links';
}
