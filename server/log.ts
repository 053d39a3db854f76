// Request logs on stderr: one line a request, without query strings, bodies or credentials.
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
  return { request_id: requestId, method: request.method, path: rawPath(request.url), key_id: keyId };
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
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
