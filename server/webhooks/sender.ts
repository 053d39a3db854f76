// Sends one webhook request: only to addresses that are open, over verified TLS, without following anything, within 15 s.
import { lookup } from 'node:dns/promises';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import type { DeliveryOutcome } from '../../db/webhooks/deliveries.ts';
import type { AddressJudge } from './addresses.ts';
import { readRetryAfter } from './retries.ts';
import { isTargetOpen, readTarget, type WebhookTarget } from './target-url.ts';

/** How an attempt ended. */
export type AttemptOutcome = Exclude<DeliveryOutcome, 'pending'>;

export interface WebhookAttempt {
  outcome: AttemptOutcome;
  /** Of the answer; null without one. */
  status: number | null;
  /** How long the receiver asks to wait; null if it does not. */
  retryAfterMs: number | null;
  /** How long it took. */
  ms: number;
}

export interface WebhookRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** JSON. */
  body: string;
}

/** Finds all IP addresses of a name; rejects if it has none. */
export type Resolver = (name: string) => Promise<readonly string[]>;

export interface WebhookSenderOptions {
  judge: AddressJudge;
  /** For tests; by default the resolver of the system. */
  resolve?: Resolver;
  /** For tests; by default the timers below. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 15_000;
const ANSWER_BYTES_MAX = 4_096;
const HEADER_BYTES_MAX = 16_384;
// The status decides; a receiver that is not done can still finish what it writes.
const ANSWER_BODY_MS_MAX = 1_000;
const USER_AGENT = 'crm-webhooks';

type Result = Omit<WebhookAttempt, 'ms'>;

/** Makes attempts; a single one serves all webhooks. */
export class WebhookSender {
  readonly #judge: AddressJudge;
  readonly #resolve: Resolver;
  readonly #timeoutMs: number;

  constructor({ judge, resolve = addressesOf, timeoutMs = TIMEOUT_MS }: WebhookSenderOptions) {
    this.#judge = judge;
    this.#resolve = resolve;
    this.#timeoutMs = timeoutMs;
  }

  /** Makes an attempt, which never rejects; null if it was given up at `stop`. */
  async send(request: WebhookRequest, stop?: AbortSignal): Promise<WebhookAttempt | null> {
    const startedAt = performance.now();
    const end = new AbortController();
    const timer = setTimeout(() => end.abort(), this.#timeoutMs);
    const giveUp = () => end.abort();
    stop?.addEventListener('abort', giveUp);
    if (stop?.aborted) giveUp();
    try {
      const result = await Promise.race([this.#attempt(request, end.signal), timeout(end.signal)]);
      if (stop?.aborted && result.outcome === 'timeout') return null;
      return { ...result, ms: Math.round(performance.now() - startedAt) };
    } finally {
      clearTimeout(timer);
      stop?.removeEventListener('abort', giveUp);
      end.abort();
    }
  }

  async #attempt(request: WebhookRequest, end: AbortSignal): Promise<Result> {
    const target = readTarget(request.url);
    if (target === null) return without('blocked');
    let addresses: readonly string[];
    try {
      addresses = isIP(target.host) === 0 ? await this.#resolve(target.host) : [target.host];
    } catch {
      return without('unreachable');
    }
    if (addresses.length === 0) return without('unreachable');
    if (!addresses.every((address) => isTargetOpen(target, this.#judge(address)))) return without('blocked');
    return post(request, target, addresses, end);
  }
}

async function addressesOf(name: string): Promise<readonly string[]> {
  const found = await lookup(name, { all: true });
  return found.map(({ address }) => address);
}

function without(outcome: AttemptOutcome): Result {
  return { outcome, status: null, retryAfterMs: null };
}

function timeout(end: AbortSignal): Promise<Result> {
  return new Promise((resolve) => {
    const onEnd = () => resolve(without('timeout'));
    if (end.aborted) onEnd();
    else end.addEventListener('abort', onEnd, { once: true });
  });
}

async function post(
  { body, headers }: WebhookRequest,
  target: WebhookTarget,
  addresses: readonly string[],
  end: AbortSignal,
): Promise<Result> {
  // Loaded with the first webhook: a server without one starts sooner.
  const client = target.isSecure ? await import('node:https') : await import('node:http');
  if (end.aborted) return without('timeout');
  return new Promise((resolve) => {
    const bytes = Buffer.from(body);
    const request = client.request({
      method: 'POST',
      host: target.host,
      port: target.port,
      path: target.path,
      setHost: false,
      headers: {
        ...headers,
        Host: target.authority,
        'User-Agent': USER_AGENT,
        'Content-Type': 'application/json',
        'Content-Length': bytes.length,
        Connection: 'close',
      },
      // A connection of its own, to the addresses that were looked at: the name is not resolved again.
      agent: false,
      lookup: lookupOf(addresses),
      maxHeaderSize: HEADER_BYTES_MAX,
      // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
      rejectUnauthorized: true,
    });
    const finish = (result: Result) => {
      resolve(result);
      request.destroy();
    };
    end.addEventListener('abort', () => request.destroy(), { once: true });
    request.on('response', (response) => readAnswer(response, finish));
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      finish(resultOf(response));
    });
    request.on('error', (error) => finish(without(outcomeOf(error, target, request))));
    request.end(bytes);
  });
}

// What connects asks for one address or all of them.
function lookupOf(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_, options, callback) => {
    const [first] = all;
    if (options.all) callback(null, all);
    else callback(null, first?.address ?? '', first?.family ?? 0);
  };
}

function readAnswer(response: IncomingMessage, finish: (result: Result) => void): void {
  const result = resultOf(response);
  const done = () => {
    clearTimeout(timer);
    finish(result);
  };
  const timer = setTimeout(done, ANSWER_BODY_MS_MAX);
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) done();
  });
  for (const event of ['end', 'close', 'error']) response.on(event, done);
}

function resultOf({ statusCode: status = 0, headers }: IncomingMessage): Result {
  const retryAfterMs = readRetryAfter(headers['retry-after'] ?? null, Date.now());
  return { outcome: outcomeOfStatus(status), status, retryAfterMs };
}

function outcomeOfStatus(status: number): AttemptOutcome {
  if (status >= 200 && status < 300) return 'delivered';
  if (status >= 300 && status < 400) return 'redirect';
  return status === 410 ? 'gone' : 'failed';
}

const CONNECTION_ERRORS =
  /^(ECONN(REFUSED|RESET|ABORTED)|E(HOST|NET)(UNREACH|DOWN)|EPIPE|ETIMEDOUT|EADDRNOTAVAIL|EACCES|EPERM|EMFILE|ENFILE)$/;

function outcomeOf(
  error: NodeJS.ErrnoException,
  { isSecure }: WebhookTarget,
  request: ClientRequest,
): AttemptOutcome {
  const { code = '' } = error;
  if (code.startsWith('HPE_')) return 'failed';
  if (CONNECTION_ERRORS.test(code) || request.socket === null) return 'unreachable';
  return isSecure ? 'tls' : 'unreachable';
}
