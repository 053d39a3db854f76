// What an endpoint is: its path, its rules, and what it does with a request that has passed the pipeline.
import type { TSchema } from 'typebox';
import type { Eventually } from '../db/engine/engine.ts';
import type { Db, RecordTrx } from '../db/engine/schema.ts';
import type { Fault } from '../db/model/faults.ts';
import type { Data, JsonValue } from '../db/model/json.ts';
import type { Api } from '../db/tables/key-format.ts';
import type { Access } from './access.ts';
import type { IncludedRecords } from './included.ts';
import type { RequestOrigin } from './request-origin.ts';
import type { Cursors } from './signing/cursors.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** A query parameter of a list. */
export interface QueryParameter {
  type: 'text' | 'integer' | 'boolean' | 'instant' | 'external ID' | readonly string[];
  minimum?: number;
  maximum?: number;
  initial?: JsonValue;
  isRequired?: boolean;
  /** How often it can be sent, if more than once; its values are then a list. */
  timesMax?: number;
  /** An email address or telephone number: a space in it is usually a plus that was not encoded. */
  isAddress?: boolean;
  description: string;
  /** For the description; not needed for enums and instants. */
  example?: JsonValue;
}

/** The entity tags of a header, as sent; `*` stands for any. */
export type EntityTags = '*' | readonly string[];

/** The input of an operation. */
export interface Call {
  /** The transaction for a write, the reader for a read. */
  db: Db;
  access: Access;
  origin: RequestOrigin;
  params: Record<string, string>;
  query: Record<string, JsonValue>;
  /** The body as sent, valid against the operation's schema; an array for a batch. */
  body: JsonValue;
  /** The faults of each batch item; items with faults are not executed. */
  itemFaults: readonly Fault[][];
  /** Unix milliseconds: for a write the time of its transaction, for a read its arrival. */
  now: number;
  baseUrl: string;
  /** The versions of the record that a write may change; null for any. */
  ifMatch: EntityTags | null;
}

/** What a read works with. */
export interface ReadCall extends Call {
  cursors: Cursors;
  /**
   * Holds the request open until there can be changes after that sequence number; false if it must be answered now.
   * @param until by `performance.now()`
   * @throws ApiError 429 if the key or its organization has too many such requests
   */
  wait(after: number, until: number): Promise<boolean>;
  /** Brings the search index of the organization up to date with its records. */
  updateIndex(): Promise<void>;
}

/** What a stream works with. */
export interface StreamCall extends ReadCall {
  /** The header Last-Event-ID; null if it was not sent. */
  lastEventId: string | null;
}

/** What an operation works with that only reads, also in a transaction. */
export interface LookupCall extends Call {
  cursors: Cursors;
}

/** What a write works with. */
export interface WriteCall extends Call {
  db: RecordTrx;
}

/** The access of a request that an operation admits itself, and the headers of its response. */
export interface Admission {
  access: Access;
  headers: Record<string, string>;
  /** Undoes the count, and returns the updated headers. */
  uncount(): Promise<Record<string, string>>;
}

/** Items of a list, possibly more than fit on a page. */
export interface ListAnswer {
  status: 200;
  object: 'list';
  data: Data[];
  /** Whether there are more items after these. */
  hasNextPage: boolean;
  /** The cursor for the position after the item with that index. */
  cursorAfter: (index: number) => string;
  /** The cursor for the position after the whole page, even an empty one; by default that after the last item. */
  endCursor?: string;
  /** What `page_info` contains besides. */
  pageInfo?: Data;
  included?: IncludedRecords;
}

/** What a client can compare, in later requests, with the version of a record that it has. */
export interface RecordVersion {
  etag: string;
  /** The JSON of the data, if the tag was computed from just that; such a response need not be sent again. */
  json: string | null;
}

/** What became of an item of a batch. */
export interface ItemResult extends Data {
  status: string;
}

/** The outcomes of the items of a batch. */
export interface BatchAnswer {
  status: 200;
  object: 'batch';
  data: { items: readonly ItemResult[]; summary: Data };
}

/** The result of an operation, with paths from the root; the pipeline adds the envelope. */
export type Answer =
  | {
      status: 200 | 201;
      object: 'success';
      data: JsonValue;
      location?: string;
      version?: RecordVersion;
      included?: IncludedRecords;
      /** What is stored of `data` for repeated requests, if it has a secret; `restore` of the operation makes `data` of it. */
      stored?: Data;
    }
  | ListAnswer
  | BatchAnswer
  | { status: 204 };

/** Events that follow each other without an end. */
export interface EventFeed {
  /** The name of each event. */
  readonly event: string;
  /** The next events; none if there are none yet. @throws ApiError if it cannot continue */
  read(): Promise<EventPage>;
  /** The ID from which to continue. */
  place(): Promise<string>;
}

export interface EventPage {
  events: readonly { id: string; data: string }[];
  /** The sequence number after which there are no changes yet; null if there are more to read. */
  caughtUpAt: number | null;
}

/** What reads and writes have in common. */
interface OperationBase {
  api: Api;
  method: Method;
  /** Path with `{parameter}` segments, from the root. */
  path: string;
  /** The path of records, if its own could also be one of them: other methods are those of such a record. */
  recordPath?: string;
  /** Unique name in lowerCamelCase. */
  id: string;
  tag: string;
  summary: string;
  description?: string;
  /** Scopes that are all required; none for an operation with `admit`. */
  scopes: readonly string[];
  /**
   * Admits a request that has its own credential instead of a key, within its own limits.
   * @throws ApiError for a request that it rejects
   */
  admit?(request: Request, now: number): Promise<Admission>;
  /** Rejects user-bound keys, because the resource belongs to the organization. */
  isOrganizationOnly?: boolean;
  query: Readonly<Record<string, QueryParameter>>;
  /** Schema of the JSON body, for operations that have one. */
  body?: TSchema;
  /** Faults of a body, or of a batch item, beyond the schema. */
  inspect?: (body: Data) => Fault[];
  /** Path of the operation that accepts an array of what this one accepts. */
  batchPath?: string;
  /** It is about one record with an ETag, which `If-None-Match` and `If-Match` compare. */
  isConditional?: boolean;
  /** The body is a list of items, each checked separately against `body`. */
  isBatch?: boolean;
  /** It deletes records, which the audit log notes with the client IP. */
  isDelete?: boolean;
  /** Whether it adds entries to the audit log; deletes do anyway. */
  isAudited?: boolean;
  /** Schema of `data` in a successful response, or of each event; none for 204. */
  answer?: TSchema;
  answerKind: 'success' | 'list' | 'batch' | 'none';
  /** Schema of `page_info`, if it differs from that of other lists. */
  pageInfo?: TSchema;
  /** Schema of what responses can include besides their data, if they can. */
  included?: TSchema;
  /** What each success status means. */
  successes: Readonly<Record<number, string>>;
  /** Statuses that it can return besides success, 401, 403, 429 and 500. */
  errorStatuses: readonly number[];
  /** Restores the secrets in the data of a response that was stored without them. */
  restore?(db: Db, data: Data): Promise<Data>;
  /** For the description: a body that can be sent, and data that the schema's examples do not show. */
  examples?: { body?: JsonValue; data?: Data };
}

/** An operation that runs on the reader. */
export interface ReadOperation extends OperationBase {
  isWrite: false;
  isLookup?: false;
  run(call: ReadCall): Eventually<Answer>;
}

/** An operation that runs on the reader, and whose response stays open. */
export interface StreamOperation extends Omit<OperationBase, 'answerKind'> {
  isWrite: false;
  isLookup?: false;
  answerKind: 'stream';
  run(call: StreamCall): Eventually<EventFeed>;
}

/** An operation that only reads: on the reader, or in a transaction if that also stores its response. */
export interface LookupOperation extends OperationBase {
  isWrite: false;
  isLookup: true;
  run(call: LookupCall): Eventually<Answer>;
}

/** An operation that runs in a write transaction. */
export interface WriteOperation extends OperationBase {
  isWrite: true;
  run(call: WriteCall): Eventually<Answer>;
}

/** An operation that can run in a transaction. */
export type TransactionOperation = WriteOperation | LookupOperation;

export type Operation = ReadOperation | StreamOperation | TransactionOperation;

/** Maximum size of the body of one record, in bytes (1 MiB). */
export const BODY_BYTES_MAX = 1024 * 1024;
/** Maximum size of a batch, in bytes (32 MiB). */
export const BATCH_BODY_BYTES_MAX = 32 * 1024 * 1024;
/** Maximum number of items in a batch. */
export const BATCH_ITEMS_MAX = 100;
