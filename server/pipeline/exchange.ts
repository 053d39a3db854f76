// One request on its way through the pipeline: its id, its clock, and the headers gathered for its answer.
import type { JsonValue } from '../../db/declare/json.ts';
import type { Api } from '../../db/tables/key-format.ts';
import { deprecationHeaders } from '../deprecation.ts';

export interface Exchange {
  readonly request: Request;
  readonly api: Api;
  readonly requestId: string;
  /** Unix milliseconds at which it arrived. */
  readonly now: number;
  /** Where clients reach the service, without a trailing slash. */
  readonly baseUrl: string;
  /** Headers that every answer from here on carries. */
  readonly headers: Record<string, string>;
  /** For the log: whose key it was, once that is known. */
  keyId: string | null;
}

const ID_BYTES = 15;

/** Starts an exchange. */
export function startExchange(given: Pick<Exchange, 'request' | 'api' | 'now' | 'baseUrl'>): Exchange {
  const requestId = `req_${Buffer.from(crypto.getRandomValues(new Uint8Array(ID_BYTES))).toString('base64url')}`;
  const headers = { 'X-Request-Id': requestId, ...deprecationHeaders(given.api, given.baseUrl) };
  return { ...given, requestId, headers, keyId: null };
}

/** The `meta` of every envelope. */
export function metaOf(exchange: Exchange): Record<string, JsonValue> {
  return {
    request_id: exchange.requestId,
    api_version: exchange.api === 'v1' ? '1' : '2',
    timestamp: new Date(exchange.now).toISOString(),
  };
}
