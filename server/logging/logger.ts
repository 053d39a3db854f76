// Request logs: one line per request, without IDs, query strings, bodies, or anything that could be a key or a token.

import { instantText } from '../../db/model/instants.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { rawPath } from '../pipeline/route.ts';

export type LogStyle = 'json' | 'pretty' | 'off';

export interface Logger {
  request(exchange: Exchange, status: number): void;
  /** An internal error, with the cause that the client does not see. */
  failure(exchange: Exchange, cause: unknown): void;
}

/** Makes a logger that passes each line to `write`; undefined for style `off`. */
export function createLogger(style: LogStyle, write: (line: string) => void): Logger | undefined {
  if (style === 'off') return undefined;
  const print = style === 'json' ? jsonLine : prettyLine;
  return {
    request: (exchange, status) =>
      write(print({ ...about('info', exchange), status, ms: Math.max(0, Date.now() - exchange.now) })),
    failure: (exchange, cause) => write(print({ ...about('error', exchange), error: textOf(cause) })),
  };
}

/** The line that reports lines which could not be written. */
export function lostLine(style: LogStyle, count: number): string {
  const error = `${count} log lines were dropped because they could not be written in time.`;
  return style === 'json' ? JSON.stringify({ time: instantText(Date.now()), level: 'error', error }) : error;
}

interface Entry {
  time: string;
  level: string;
  request_id: string;
  method: string;
  /** The path template; null for a path outside the API, whose `path` shows only its harmless parts. */
  route: string | null;
  path?: string;
  org_id: string | null;
  key_id: string | null;
  address: string | null;
  dry_run?: true;
  status?: number;
  ms?: number;
  error?: string;
}

function about(level: string, exchange: Exchange): Entry {
  const { request, requestId, route, organizationId, keyId, address, isDryRun } = exchange;
  return {
    time: instantText(Date.now()),
    level,
    request_id: requestId,
    method: request.method,
    route,
    ...(route === null && { path: shownPath(request.url) }),
    org_id: organizationId,
    key_id: keyId,
    address,
    ...(isDryRun && { dry_run: true }),
  };
}

const HIDDEN = '[hidden]';
const SEGMENTS_MAX = 12;
// Words of API paths, and ids: these cannot contain a secret.
const HARMLESS = /^(?:[a-z_.-]{0,32}|v\d|[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12})$/;
const SECRET = /service_(?:live|api|pk)_\w*|[\w.~%+=-]{40,}/gi;

function shownPath(url: string): string {
  const segments = rawPath(url).split('/', SEGMENTS_MAX);
  return segments.map((segment) => (HARMLESS.test(segment) ? segment : HIDDEN)).join('/');
}

function jsonLine(entry: Entry): string {
  return JSON.stringify(entry);
}

function prettyLine({ time, method, route, path, address, status, ms, error, request_id }: Entry): string {
  const what = error ?? `${ms} ms`;
  return `${time.slice(11, 23)}  ${status ?? 'failed'}  ${method} ${route ?? path}  ${what}  ${address}  ${request_id}`;
}

function textOf(cause: unknown): string {
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  return text.replaceAll(SECRET, HIDDEN);
}
