// How a server forwards later requests on its open connections to the one that took over, so that clients notice nothing.
import { type ServingProcess, servingProcess } from '../../db/store.ts';
import { SILENT_SECONDS } from '../pipeline/body.ts';
import { publicError } from '../pipeline/respond.ts';
import { UNTAKEN_SECONDS } from '../pipeline/unsent-responses.ts';
import { type Fetch, nextTurns, withConnectionClose } from './drain.ts';
import { DRAIN_MS_MAX, type Listener } from './listener.ts';
import { closingErrorResponse, RequestQueue, upgradeResponse, WAIT_MS_MAX } from './request-queue.ts';
import { connectionCounter } from './reuseport-steering.ts';
import { forwardRequest } from './takeover-socket.ts';
import { TrustedTakeoverSocket } from './takeover-socket-owner.ts';

const POLL_MS = 20;
const LINGER_POLL_MS = 500;
// A server that has just looked up this one can still find it.
const LINGER_MS_MIN = 1_000;
/** Longer than a connection can be silent: connections that remain are in use. */
const LINGER_MS_MAX = (SILENT_SECONDS + 5) * 1_000;

/** A listener of the old server, in this thread or in another. */
export interface Handover {
  /** Queues new requests; resolves once earlier ones are answered, after at most 9 s. */
  queueRequests(): Promise<void>;
  /** Forwards queued and later requests to the server that has the database by then. */
  forwardRequests(): Promise<void>;
}

export class ListenerHandover implements Handover {
  readonly #listener: Listener;
  readonly #lookUp: NewServerLookup;
  readonly #baseUrl: string;
  readonly #queue: RequestQueue;
  readonly #trusted = new TrustedTakeoverSocket();
  /** The search for the new server, shared by all requests that need it at the same time. */
  #search: Promise<string | null> | null = null;

  /**
   * @param db path of the database file
   * @param baseUrl the public URL of the service, without a trailing slash
   */
  constructor(listener: Listener, db: string, baseUrl: string) {
    this.#listener = listener;
    this.#lookUp = newServerLookup(db);
    this.#baseUrl = baseUrl;
    this.#queue = new RequestQueue(baseUrl);
  }

  async queueRequests(): Promise<void> {
    const until = performance.now() + DRAIN_MS_MAX;
    this.#listener.answerWith(this.#queue.fetch);
    this.#listener.release();
    // Receives what the system held while this thread was busy.
    await nextTurns();
    while (this.#listener.pending > this.#queue.count && performance.now() < until) {
      await Bun.sleep(POLL_MS);
    }
    // Bodies that are incomplete now find no database here.
    this.#listener.endBodies();
    await nextTurns();
  }

  async forwardRequests(): Promise<void> {
    this.#listener.answerWith(this.#forward);
    this.#queue.open(this.#forward);
    // Requests that arrive after the new server has died do not wait for it.
    this.#socketOfNewServer().catch(() => undefined);
  }

  readonly #forward: Fetch = async (request) => {
    const peer = this.#listener.peerOf(request);
    // The new server limits how long the body can take.
    this.#listener.limitSilence(request, 0);
    try {
      const found = await this.#socketOfNewServer();
      const takeoverSocket = found === null ? null : this.#trusted.reach(found);
      if (takeoverSocket === null) return upgradeResponse(request, this.#baseUrl);
      const response = await forwardRequest(takeoverSocket, request, peer);
      // The new server sees how fast this one reads the response, but not how fast the client does.
      this.#listener.limitSilence(request, UNTAKEN_SECONDS);
      return withConnectionClose(response);
    } catch (error) {
      return this.#refuse(request, error);
    }
  };

  // Looked up each time, because the new server could have been replaced as well.
  #socketOfNewServer(): Promise<string | null> {
    this.#search ??= this.#awaitSocket().finally(() => {
      this.#search = null;
    });
    return this.#search;
  }

  async #awaitSocket(): Promise<string | null> {
    const until = performance.now() + WAIT_MS_MAX;
    do {
      const newServer = this.#lookUp();
      if (newServer !== null) return newServer?.takeoverSocket ?? null;
      await Bun.sleep(POLL_MS);
    } while (performance.now() < until);
    return null;
  }

  #refuse(request: Request, error: unknown): Response {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return upgradeResponse(request, this.#baseUrl);
    // It is unknown how far the request got.
    return closingErrorResponse(request, publicError(error), this.#baseUrl);
  }
}

/** Resolves once this process has no connections, or there is no new server; after at most 65 s, or at `end`. */
export async function waitForConnectionsToClose(db: string, end: Promise<unknown>): Promise<void> {
  const count = connectionCounter();
  const lookUp = newServerLookup(db);
  const begunAt = performance.now();
  let servedAt = begunAt;
  let isOver = false;
  const ended = end.then(() => {
    isOver = true;
  });
  while (!isOver) {
    await Promise.race([ended, Bun.sleep(LINGER_POLL_MS)]);
    const now = performance.now();
    const newServer = lookUp();
    if (newServer) servedAt = now;
    // Other servers can forward requests to this one until they know the new one.
    const isUnused = now > begunAt + LINGER_MS_MIN && servedAt > begunAt && count() === 0;
    const isAlone = newServer === undefined || now > servedAt + WAIT_MS_MAX;
    isOver ||= isUnused || isAlone || now > begunAt + LINGER_MS_MAX;
  }
}

/** Returns the server of the database after this one; null while one is expected, undefined if the last one has died. */
type NewServerLookup = () => ServingProcess | null | undefined;

function newServerLookup(db: string): NewServerLookup {
  let lastPid: number | null = null;
  return () => {
    const holder = servingProcess(db);
    if (holder === null || holder.pid === process.pid)
      return lastPid === null || isAlive(lastPid) ? null : undefined;
    lastPid = holder.pid;
    return holder;
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
