// How a server hands later requests on its open connections to its successor, so that clients do not notice the change.
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

const LOOK_MS = 20;
const LINGER_LOOK_MS = 500;
// A server that has just looked up this one can still find it.
const LINGER_MS_MIN = 1_000;
/** Longer than a connection can be silent: connections that remain are in use. */
const LINGER_MS_MAX = (SILENT_SECONDS + 5) * 1_000;

/** Something that hands over, in this thread or in another. */
export interface Handover {
  /** Lets new requests wait; resolves once earlier ones are answered, after at most 9 s. */
  holdBack(): Promise<void>;
  /** Hands waiting and later requests to the server that has the database then. */
  handOver(): Promise<void>;
}

export class ListenerHandover implements Handover {
  readonly #listener: Listener;
  readonly #successors: Successors;
  readonly #baseUrl: string;
  readonly #waiting: RequestQueue;
  readonly #trusted = new TrustedTakeoverSocket();
  /** The search for the successor, shared by all requests that need it at the same time. */
  #search: Promise<string | null> | null = null;

  /**
   * @param db path of the database file
   * @param baseUrl the public URL of the service, without a trailing slash
   */
  constructor(listener: Listener, db: string, baseUrl: string) {
    this.#listener = listener;
    this.#successors = new Successors(db);
    this.#baseUrl = baseUrl;
    this.#waiting = new RequestQueue(baseUrl);
  }

  async holdBack(): Promise<void> {
    const until = performance.now() + DRAIN_MS_MAX;
    this.#listener.answerWith(this.#waiting.fetch);
    // Receives what the system held while this thread was busy.
    await nextTurns();
    while (this.#listener.pending > this.#waiting.count && performance.now() < until) {
      await Bun.sleep(LOOK_MS);
    }
    // Bodies that are incomplete now find no database here.
    this.#listener.endBodies();
    await nextTurns();
  }

  async handOver(): Promise<void> {
    this.#listener.answerWith(this.#send);
    this.#waiting.open(this.#send);
    // Requests that arrive after the successor has died do not wait for it.
    this.#successor().catch(() => undefined);
  }

  readonly #send: Fetch = async (request) => {
    const peer = this.#listener.peerOf(request);
    // The successor limits how long the body can take.
    this.#listener.limitSilence(request, 0);
    try {
      const named = await this.#successor();
      const takeoverSocket = named === null ? null : this.#trusted.reach(named);
      if (takeoverSocket === null) return upgradeResponse(request, this.#baseUrl);
      const response = await forwardRequest(takeoverSocket, request, peer);
      // The successor sees how fast this server reads the response, but not how fast the client does.
      this.#listener.limitSilence(request, UNTAKEN_SECONDS);
      return withConnectionClose(response);
    } catch (error) {
      return this.#refuse(request, error);
    }
  };

  // Looked up each time, because it could have been replaced as well.
  #successor(): Promise<string | null> {
    this.#search ??= this.#find().finally(() => {
      this.#search = null;
    });
    return this.#search;
  }

  async #find(): Promise<string | null> {
    const until = performance.now() + WAIT_MS_MAX;
    do {
      const successor = this.#successors.look();
      if (successor !== null) return successor?.inlet ?? null;
      await Bun.sleep(LOOK_MS);
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

/** Resolves once this process has no connections, or no successor; after at most 65 s, or at `end`. */
export async function waitForConnectionsToClose(db: string, end: Promise<unknown>): Promise<void> {
  const count = connectionCounter();
  const successors = new Successors(db);
  const begunAt = performance.now();
  let servedAt = begunAt;
  let isOver = false;
  const ended = end.then(() => {
    isOver = true;
  });
  while (!isOver) {
    await Promise.race([ended, Bun.sleep(LINGER_LOOK_MS)]);
    const now = performance.now();
    const successor = successors.look();
    if (successor) servedAt = now;
    // Other servers can hand requests to this one until they know its successor.
    const isUnused = now > begunAt + LINGER_MS_MIN && servedAt > begunAt && count() === 0;
    const isAlone = successor === undefined || now > servedAt + WAIT_MS_MAX;
    isOver ||= isUnused || isAlone || now > begunAt + LINGER_MS_MAX;
  }
}

/** Finds the server of a database after this process. */
class Successors {
  readonly #db: string;
  #last: number | null = null;

  constructor(db: string) {
    this.#db = db;
  }

  /** The server of the database; null while one is expected, undefined if the last one has died. */
  look(): ServingProcess | null | undefined {
    const holder = servingProcess(this.#db);
    if (holder === null || holder.pid === process.pid) {
      return this.#last === null || isAlive(this.#last) ? null : undefined;
    }
    this.#last = holder.pid;
    return holder;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
