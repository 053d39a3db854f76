// Requests of a mixed load, each of which has an answer that it must get.
import type { Json } from '../../support/json.ts';
import { patienceMs } from '../patience.ts';
import { ANY } from '../service.ts';

const ANSWER_MS_MAX = patienceMs(20_000);

/** What all that were sent have come to. */
export class Traffic {
  answered = 0;
  /** Connections that were cut off on purpose. */
  aborted = 0;
  /** Milliseconds that the slowest took. */
  slowestMs = 0;
  readonly statuses = new Map<number, number>();
  readonly unexpected: string[] = [];
}

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  body: Json;
}

export interface Sending {
  body?: Json;
  /** The body as it is, instead of `body`. */
  raw?: string;
  headers?: Record<string, string>;
  /** Instead of the caller's own; empty for none. */
  key?: string;
}

/** What should not have come. */
export class Unexpected extends Error {}

/** Throws if something is not as it must be. */
export function hold(isSo: boolean, text: string): asserts isSo {
  if (!isSo) throw new Unexpected(text);
}

/** Who sends with a key to one of the two versions. */
export class Caller {
  constructor(
    readonly url: string,
    readonly root: '/api/v1' | '/api/v2',
    readonly key: string,
    readonly traffic: Traffic,
  ) {}

  /**
   * Sends a request that is answered with one of these statuses, in an envelope.
   * @throws Unexpected if it is not
   */
  async send(
    method: string,
    path: string,
    statuses: number | number[],
    sending: Sending = {},
  ): Promise<Reply> {
    const { body, raw, headers = {}, key = this.key } = sending;
    const what = `${method} ${this.root}${path}`;
    const begun = performance.now();
    const response = await fetch(`${this.url}${this.root}${path}`, {
      method,
      headers: { ...(key !== '' && { 'X-Service-Api-Key': key }), ...headers },
      body: raw ?? (body === undefined ? undefined : JSON.stringify(body)),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
      tls: ANY,
    }).catch((error: unknown) => {
      throw new Unexpected(`${what}: ${error}`);
    });
    const text = await response.text();
    const { traffic } = this;
    traffic.answered += 1;
    traffic.slowestMs = Math.max(traffic.slowestMs, performance.now() - begun);
    traffic.statuses.set(response.status, (traffic.statuses.get(response.status) ?? 0) + 1);
    hold([statuses].flat().includes(response.status), `${what}: ${response.status} ${text.slice(0, 300)}`);
    const reply = { status: response.status, headers: response.headers, text, body: parsed(text) };
    if (reply.status !== 204) holdEnvelope(reply, this.root, what);
    return reply;
  }
}

function holdEnvelope({ status, body }: Reply, root: string, what: string): void {
  const version = root.at(-1);
  hold(body?.meta?.api_version === version && body.meta.request_id !== '', `${what}: no envelope`);
  hold((body.object === 'error') === status >= 400, `${what}: ${status} with ${body.object}`);
}

function parsed(text: string): Json {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
