// Request logs on stderr: one line a request, without query strings, bodies, or anything that may be a key or a token.
import type { Exchange } from './pipeline/exchange.ts';
import { rawPath } from './pipeline/route.ts';

export type LogStyle = 'json' | 'pretty' | 'off';

export interface Logger {
  request(exchange: Exchange, status: number): void;
  /** An internal error, with what the client is not told. */
  failure(exchange: Exchange, cause: unknown): void;
}

/** Makes a logger that hands each finished line to `write`; undefined for style `off`. */
export function createLogger(style: LogStyle, write: (line: string) => void): Logger | undefined {
  if (style === 'off') return undefined;
  const print = style === 'json' ? jsonLine : prettyLine;
  return {
    request: (exchange, status) =>
      write(print('info', { ...about(exchange), status, ms: elapsed(exchange) })),
    failure: (exchange, cause) => write(print('error', { ...about(exchange), error: textOf(cause) })),
  };
}

type Entry = Record<string, string | number | null>;

function about({ request, requestId, keyId }: Exchange): Entry {
  return { request_id: requestId, method: request.method, path: shownPath(request.url), key_id: keyId };
}

const HIDDEN = '[hidden]';
const SEGMENTS_MAX = 12;
// Words as the interface has them, and ids: in them no secret can stand, however it was put into the path.
const HARMLESS = /^(?:[a-z_.-]{0,32}|v\d|[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12})$/;
const SECRET = /service_(?:live|api|pk)_\w*|[\w.~%+=-]{40,}/gi;

function shownPath(url: string): string {
  const segments = rawPath(url).split('/', SEGMENTS_MAX);
  return segments.map((segment) => (HARMLESS.test(segment) ? segment : HIDDEN)).join('/');
}

function elapsed(exchange: Exchange): number {
  return Math.max(0, Date.now() - exchange.now);
}

function jsonLine(level: string, entry: Entry): string {
  return JSON.stringify({ time: new Date().toISOString(), level, ...entry });
}

function prettyLine(_level: string, entry: Entry): string {
  const time = new Date().toISOString().slice(11, 23);
  const { method, path, status = 'failed', ms = '', error, request_id } = entry;
  const what = error === undefined ? `${ms} ms` : String(error);
  return `${time}  ${status}  ${method} ${path}  ${what}  ${request_id}`;
}

function textOf(cause: unknown): string {
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  return text.replaceAll(SECRET, HIDDEN);
}
