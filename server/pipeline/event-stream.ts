// Responses that are streams of server-sent events: they end after a whole event, and hold little for slow clients.
import { nextTurn } from '../../db/event-loop.ts';
import type { Access } from '../access.ts';
import { ApiError } from '../errors.ts';
import type { EventFeed } from '../operation.ts';
import { ChangeWaits } from './change-waits.ts';
import { requireNetwork } from './credential.ts';
import type { Exchange } from './exchange.ts';
import { publicError, type Rendered, renderError } from './respond.ts';
import type { Services } from './services.ts';

/** How often a stream has a comment, and its key is looked at again, in milliseconds. */
export const LOOK_EVERY_MS = 15_000;
const RECONNECT_MS = 1_000;
// Sent together; a client that reads slowly has the runtime keep one or two such pieces.
const PIECE_CHARACTERS = 64 * 1024;

const encoder = new TextEncoder();

/**
 * The response with the events of a feed, which holds its place until it ends.
 * @throws ApiError 429 if the key or its organization has too many
 */
export function renderStream(
  services: Services,
  exchange: Exchange,
  access: Access,
  feed: EventFeed,
): Rendered {
  const { request } = exchange;
  const rendered = { status: 200, location: null, body: '' };
  if (request.method === 'HEAD') return { ...rendered, stream: null };
  const giveBack = services.held.hold(access, 'stream');
  const { body } = new EventStream(services, { exchange, access, feed, giveBack });
  return { ...rendered, stream: body };
}

interface Streamed {
  exchange: Exchange;
  access: Access;
  feed: EventFeed;
  giveBack: () => void;
}

class EventStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #services: Services;
  readonly #streamed: Streamed;
  readonly #waits: ChangeWaits;
  readonly #ends: readonly AbortSignal[];
  readonly #address: string;
  /** Whole events that were read and not sent. */
  #texts: string[] = [`retry: ${RECONNECT_MS}\n\n`];
  #lookAt: number;
  #isReading = false;
  #isOver = false;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;

  constructor(services: Services, streamed: Streamed) {
    const { exchange, access } = streamed;
    this.#services = services;
    this.#streamed = streamed;
    this.#ends = [exchange.request.signal, services.releaseOf(exchange.request)];
    this.#waits = new ChangeWaits(services.store.signals, access.orgNumber, this.#ends);
    // Now, because it is unknown once the client has disconnected.
    this.#address = exchange.address ?? services.addressOf(exchange.request);
    this.#lookAt = performance.now() + services.lookEveryMs;
    this.body = new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#pull(),
        cancel: () => this.#end(),
      },
      // Nothing is read before the client has room for it.
      { highWaterMark: 0 },
    );
    for (const signal of this.#ends) signal.addEventListener('abort', this.#onEnd);
    if (exchange.request.signal.aborted || exchange.givenUp !== null) this.#end();
  }

  async #pull(): Promise<void> {
    this.#isReading = true;
    try {
      const text = await this.#next();
      if (text !== null) this.#send(text);
      else this.#end();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isReading = false;
    }
  }

  // Whole events; null at the end.
  async #next(): Promise<string | null> {
    const { feed, access } = this.#streamed;
    const { fairTurns, store } = this.#services;
    for (;;) {
      if (this.#texts.length > 0) return this.#take();
      if (this.#waits.isOver) return null;
      const leftMs = this.#lookAt - performance.now();
      if (leftMs <= 0) {
        await this.#checkKey();
        this.#lookAt = performance.now() + this.#services.lookEveryMs;
        // The place moves on over changes that the client does not get.
        return `:\nid: ${await feed.place()}\n\n`;
      }
      // A client that reads fast would otherwise leave no turn for others.
      await nextTurn();
      await fairTurns.turn(access.orgNumber);
      const { events, caughtUpAt } = await feed.read();
      store.endSnapshot();
      this.#texts = events.map(({ id, data }) => `event: ${feed.event}\nid: ${id}\ndata: ${data}\n\n`);
      if (events.length === 0 && caughtUpAt !== null) await this.#waits.wait(caughtUpAt, leftMs);
    }
  }

  #take(): string {
    let text = this.#texts.shift() ?? '';
    for (let [next] = this.#texts; next !== undefined; [next] = this.#texts) {
      if (text.length + next.length > PIECE_CHARACTERS) break;
      text += next;
      this.#texts.shift();
    }
    return text;
  }

  async #checkKey(): Promise<void> {
    const { authenticator, now } = this.#services;
    const { exchange, access } = this.#streamed;
    const addressOf = () => this.#address;
    const at = { api: exchange.api, addressOf, now: now() };
    const key = await authenticator.authenticateAgain(exchange.request, at);
    requireNetwork(key, exchange.request, addressOf);
    const { scopes } = key.access;
    if (scopes.size === access.scopes.size && scopes.isSubsetOf(access.scopes)) return;
    throw new ApiError(
      'AUTH_INSUFFICIENT_SCOPE',
      'The scopes of the API key have changed; open the stream again.',
    );
  }

  #send(text: string): void {
    if (this.#isOver) return;
    const bytes = encoder.encode(text);
    this.#services.fairTurns.spend(this.#streamed.access.orgNumber, bytes.byteLength);
    this.#controller?.enqueue(bytes);
  }

  #fail(error: unknown): void {
    const { exchange } = this.#streamed;
    const known = publicError(error);
    if (known.code === 'INTERNAL_ERROR') this.#services.logFailure(exchange, known.cause);
    this.#send(`event: error\ndata: ${renderError(exchange, known).body}\n\n`);
    this.#end();
  }

  // While it reads, the read notices the end by itself.
  readonly #onEnd = () => {
    if (!this.#isReading || this.#streamed.exchange.request.signal.aborted) this.#end();
  };

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#texts = [];
    for (const signal of this.#ends) signal.removeEventListener('abort', this.#onEnd);
    this.#streamed.giveBack();
    try {
      this.#controller?.close();
    } catch {
      // The client has canceled it.
    }
  }
}
