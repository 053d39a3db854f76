// The shapes of the service's responses, and how to read the data of a successful one.
import type { Data, JsonValue } from '../../db/model/json.ts';
import { isObject } from '../../db/model/json.ts';
import { CliError } from '../errors.ts';

export interface Meta {
  request_id: string;
  api_version: string;
  timestamp: string;
}

export interface ErrorDetail {
  path?: string;
  message: string;
  code?: string;
  /** The record that a conflict is with, if the key can see it. */
  existing_id?: string;
}

export interface ApiErrorBody {
  code: string;
  message: string;
  details: ErrorDetail[];
}

export interface PageInfo {
  has_next_page: boolean;
  end_cursor: string | null;
}

export interface BatchItem {
  index: number;
  status: 'created' | 'updated' | 'unchanged' | 'deleted' | 'found' | 'error';
  data?: Data;
  error?: { code: string; message: string; details?: ErrorDetail[] };
}

/** What a response includes besides its data: records by resource (or `users`, `stages`) and ID. */
export type Included = Readonly<Record<string, Readonly<Record<string, Data>>>>;

/** Every response of the service; `none` is a response without a body (204). */
export type Envelope =
  | { object: 'success'; data: JsonValue; included?: Included; meta: Meta }
  | { object: 'list'; data: Data[]; included?: Included; page_info: PageInfo; meta: Meta }
  | {
      object: 'batch';
      data: { items: BatchItem[]; summary: { total: number; succeeded: number; failed: number } };
      meta: Meta;
    }
  | { object: 'error'; error: ApiErrorBody; meta: Meta }
  | { object: 'none' };

/** A response, with its request. */
export interface ApiResponse {
  method: string;
  path: string;
  status: number;
  headers: Headers;
  body: Envelope;
  /** The body as the server sent it. */
  text: string;
}

/** The record (or other object) in a `success` response; a protocol error for other responses. */
export function recordOf(response: ApiResponse): Data {
  const { body } = response;
  if (body.object === 'success' && isObject(body.data)) return body.data;
  throw unexpectedAnswer(response);
}

/** What a response includes besides its data. */
export function includedIn({ body }: ApiResponse): Included {
  return body.object === 'success' || body.object === 'list' ? (body.included ?? {}) : {};
}

/** The records in a `list` response, and the cursor of the next page, null on the last. */
export function pageOf(response: ApiResponse): { records: Data[]; nextCursor: string | null } {
  const { body } = response;
  if (body.object !== 'list') throw unexpectedAnswer(response);
  const { has_next_page: hasNext, end_cursor: endCursor } = body.page_info;
  return { records: body.data, nextCursor: hasNext ? endCursor : null };
}

/** The error for a response with an unexpected shape. */
export function unexpectedAnswer({ status, body }: ApiResponse): CliError {
  return new CliError(`The server sent an unexpected response (${status} ${body.object}).`, {
    nextSteps: ['check that the server runs the same version of crm ("crm version").'],
  });
}
