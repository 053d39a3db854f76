// What an endpoint is: its place, its rules, and what it does once a request has passed the pipeline.
import type { TSchema } from 'typebox';
import type { Eventually } from '../db/engine/engine.ts';
import type { Db } from '../db/engine/schema.ts';
import type { Fault } from '../db/model/faults.ts';
import type { Data, JsonValue } from '../db/model/json.ts';
import type { Api } from '../db/tables/key-format.ts';
import type { Access } from './access.ts';
import type { RequestOrigin } from './request-origin.ts';
import type { Cursors } from './signing/cursors.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** A query parameter of a list. */
export interface QueryParameter {
  type: 'text' | 'integer' | 'boolean' | 'instant' | readonly string[];
  minimum?: number;
  maximum?: number;
  initial?: JsonValue;
  /** An email address or telephone number, in which a space is most often a plus that was not encoded. */
  isAddress?: boolean;
  description: string;
  /** For the description; one of the named values, or an instant, needs none. */
  example?: JsonValue;
}

/** What an operation works with. */
export interface Call {
  /** The writing transaction of a write, the reader of a read. */
  db: Db;
  access: Access;
  origin: RequestOrigin;
  params: Record<string, string>;
  query: Record<string, JsonValue>;
  /** The body as sent, valid against the operation's schema; an array for a batch. */
  body: JsonValue;
  /** For each item of a batch the faults that keep it from being carried out. */
  itemFaults: readonly Fault[][];
  /** Unix milliseconds: of a write the instant it is carried out, taken in its transaction; of a read its arrival. */
  now: number;
  baseUrl: string;
  cursors: Cursors;
}

/** Whom an operation lets in by itself, and the headers that its answer then carries. */
export interface Admission {
  access: Access;
  headers: Record<string, string>;
  /** Takes back what it was counted for, and gives the headers as they are then. */
  uncount(): Promise<Record<string, string>>;
}

/** Items of a list, more than a page has room for among them. */
export interface ListAnswer {
  status: 200;
  object: 'list';
  data: Data[];
  /** Whether others follow these. */
  hasNextPage: boolean;
  /** The cursor for what follows that one of the items. */
  cursorAfter: (index: number) => string;
}

/** What an operation answers, with paths from the root; the envelope is put around it. */
export type Answer =
  | { status: 200 | 201; object: 'success'; data: JsonValue; location?: string }
  | ListAnswer
  | { status: 200; object: 'batch'; data: JsonValue }
  | { status: 204 };

export interface Operation {
  api: Api;
  method: Method;
  /** Path with `{parameter}` segments, from the root. */
  path: string;
  /** Unique name, lowerCamelCase. */
  id: string;
  tag: string;
  summary: string;
  description?: string;
  /** Scopes that are all required; none for an operation that lets requests in by itself. */
  scopes: readonly string[];
  /**
   * Lets a request in that carries a credential of its own instead of a key, within limits of its own.
   * @throws ApiError for one that it keeps out
   */
  admit?(request: Request, now: number): Promise<Admission>;
  /** A user-bound key is refused: the resource belongs to the organization. */
  isOrganizationOnly?: boolean;
  /** Runs in a write transaction. */
  isWrite: boolean;
  query: Readonly<Record<string, QueryParameter>>;
  /** Schema of the JSON body, for operations that take one. */
  body?: TSchema;
  /** Faults beyond the schema that a body, or an item of a batch, has by itself. */
  inspect?: (body: Data) => Fault[];
  /** Path of the operation that takes an array of what this one takes. */
  batchPath?: string;
  /** The body is a list of items, each checked by itself against `body`. */
  isBatch?: boolean;
  /** Schema of `data` in a successful answer; none for 204. */
  answer?: TSchema;
  answerKind: 'success' | 'list' | 'batch' | 'none';
  /** What each status of success means. */
  successes: Readonly<Record<number, string>>;
  /** Statuses beyond success, 401, 403, 429 and 500 that it can give. */
  errorStatuses: readonly number[];
  /** For the description: a body that can be sent, and what of the data its schema's examples do not show. */
  examples?: { body?: JsonValue; data?: Data };
  run(call: Call): Eventually<Answer>;
}

/** Largest body of one record, in bytes (1 MiB). */
export const BODY_BYTES_MAX = 1024 * 1024;
/** Largest body of a batch, in bytes (32 MiB). */
export const BATCH_BODY_BYTES_MAX = 32 * 1024 * 1024;
/** Most items of a batch. */
export const BATCH_ITEMS_MAX = 100;
