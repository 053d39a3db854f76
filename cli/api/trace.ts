// Prints requests for --debug: what was sent, what came back, how long it took, and why the client waits.
import { errorCode, messageOf } from '../errors.ts';
import { debug, isDebugging } from '../terminal/debug.ts';
import { formatCount } from '../terminal/format.ts';
import { headerLine, redactedStart } from '../terminal/redact.ts';
import { type Wait, waitInWords } from '../terminal/wait-reasons.ts';

const BODY_CHARACTERS_MAX = 2_048;

let traced = 0;

/** A request of this command line: to the configured server only, redirects are not followed. */
export interface TracedInit extends Omit<BunFetchRequestInit, 'redirect'> {
  headers?: Record<string, string>;
  body?: string;
}

/** One request with all its attempts; its number identifies its lines among those of other requests. */
export class Trace {
  readonly #number = ++traced;

  /** Like `fetch`, with debug output; returns redirects, because following one would send the key along. */
  async fetch(url: string, traced: TracedInit): Promise<Response> {
    const init = { ...traced, redirect: 'manual' } as const;
    if (!isDebugging()) return fetch(url, init);
    const { method = 'GET', headers = {}, body = '' } = traced;
    this.#tell('>', [`${method} ${url}`, ...headerLines(Object.entries(headers)), ...bodyLines(body)]);
    const startedMs = performance.now();
    try {
      const response = await fetch(url, init);
      await this.#tellAnswer(response.clone(), startedMs);
      return response;
    } catch (error) {
      this.#tell('<', [`no response after ${msSince(startedMs)}: ${describe(error)}`]);
      throw error;
    }
  }

  // If the body is cut off, the caller sees that too and handles it.
  async #tellAnswer(answer: ReturnType<Response['clone']>, startedMs: number): Promise<void> {
    const { status, statusText, headers } = answer;
    const rest = await answer.text().then(bodyLines, (error) => [`… interrupted: ${describe(error)}`]);
    const head = `${status} ${statusText}`.trim();
    this.#tell('<', [`${head} after ${msSince(startedMs)}`, ...headerLines(headers), ...rest]);
  }

  /** Prints that the request will be sent again, and when; `asked` is the server's Retry-After. */
  waits(wait: Wait, asked: string | null): void {
    const why = asked === null ? '' : ` (Retry-After: ${asked})`;
    this.#tell('*', [`${waitInWords(wait)}${why}, then retrying`]);
  }

  #tell(mark: string, lines: readonly string[]): void {
    debug(lines.map((line) => line.replace(/^/gm, `${this.#number} ${mark} `)).join('\n'));
  }
}

function headerLines(headers: Iterable<[string, string]>): string[] {
  return [...headers].map(([name, value]) => headerLine(name, value));
}

function bodyLines(text: string): string[] {
  if (text === '') return [];
  const { shown, isWhole } = redactedStart(text, BODY_CHARACTERS_MAX);
  const rest = `… first part of ${formatCount(text.length)} characters`;
  return isWhole ? [shown] : [shown, rest];
}

function describe(error: unknown): string {
  const [code, message] = [errorCode(error), messageOf(error)];
  return code === '' || message.startsWith(code) ? message : `${code}: ${message}`;
}

function msSince(startedMs: number): string {
  return `${Math.round(performance.now() - startedMs)} ms`;
}
