// One request on its way through the pipeline: its ID, its clock, and the headers collected for its response.

import { instantText } from '../../db/model/instants.ts';
import type { JsonValue } from '../../db/model/json.ts';
import type { Api } from '../../db/tables/key-format.ts';
import { deprecationHeaders } from '../deprecation.ts';
import type { LimitName } from '../errors.ts';
import type { Admission } from '../operation.ts';
import type { ResponseReservation } from './response-reservation.ts';

/** What the envelope of a response needs to know about the request. */
export interface RequestMeta {
  readonly api: Api;
  readonly requestId: string;
  /** When the request arrived, in Unix milliseconds. */
  readonly now: number;
  /** The public URL of the service, without a trailing slash. */
  readonly baseUrl: string;
}

export interface Exchange extends RequestMeta {
  readonly request: Request;
  /** By `performance.now()`, if request times are measured; otherwise 0. */
  begunAt: number;
  /** Headers that every response from this point on carries. */
  readonly headers: Record<string, string>;
  /** The template of its path, once known to be a path of the API. */
  route: string | null;
  /** For the log: the key and its organization, once known. */
  keyId: string | null;
  organizationId: string | null;
  /** The client IP, if the log or the audit log needs it. */
  address: string | null;
  /** The minute since the epoch in which it was counted against the limits. */
  countedIn: number | null;
  /** Since when it waits for its body or for room, by `performance.now()`, and how long it had waited before. */
  waitingSince: number | null;
  waitedMs: number;
  /** How long it was held open for changes, in milliseconds. */
  heldMs: number;
  /** Room of its response, until that is sent. */
  reservation: ResponseReservation | null;
  /** Whether it is a write that is undone once its response is known. */
  isDryRun: boolean;
  /** Undoes the operation's own count, and returns the headers that describe that limit. */
  uncount: Admission['uncount'] | null;
  /** The limit that rejected it. */
  refusedBy: LimitName | null;
  /** Why it was answered while work on it was still running. */
  givenUp: Error | null;
}

/** Starts an exchange. */
export function startExchange(given: Pick<Exchange, 'request' | 'api' | 'now' | 'baseUrl'>): Exchange {
  const { request, api, now, baseUrl } = given;
  const requestId = `req_${randomText()}`;
  const headers: Record<string, string> = { 'X-Request-Id': requestId };
  if (api === 'v1') Object.assign(headers, deprecationHeaders(baseUrl));
  return {
    request,
    api,
    requestId,
    now,
    baseUrl,
    begunAt: 0,
    headers,
    route: null,
    keyId: null,
    organizationId: null,
    address: null,
    countedIn: null,
    waitingSince: null,
    waitedMs: 0,
    heldMs: 0,
    reservation: null,
    isDryRun: false,
    uncount: null,
    refusedBy: null,
    givenUp: null,
  };
}

const ID_BYTES = 15;
const ID_CHARACTERS = 20;
const IDS_AT_ONCE = 512;

// Random bytes are cheap in blocks and expensive one by one.
const pool = { text: '', at: 0 };

function randomText(): string {
  if (pool.at === pool.text.length) {
    const bytes = crypto.getRandomValues(new Uint8Array(IDS_AT_ONCE * ID_BYTES));
    pool.text = Buffer.from(bytes).toString('base64url');
    pool.at = 0;
  }
  const { at } = pool;
  pool.at += ID_CHARACTERS;
  return pool.text.slice(at, pool.at);
}

/** The `meta` of every envelope. */
export function responseMeta(asked: RequestMeta): Record<string, JsonValue> {
  return {
    request_id: asked.requestId,
    api_version: asked.api === 'v1' ? '1' : '2',
    timestamp: instantText(asked.now),
  };
}
