// The listener of a thread: HTTP or HTTPS, with certificates that can be renewed while it runs, and a draining stop.
import { readFileSync } from 'node:fs';
import type { Eventually } from '../../db/engine/engine.ts';
import { SILENT_SECONDS } from '../pipeline/body.ts';
import { Drain, type Fetch, withConnectionClose } from './drain.ts';
import { limitSendBuffers } from './kernel-sockets.ts';
import { rawPathRoutes } from './raw-path-routes.ts';
import { ForwardedRequests } from './takeover-socket.ts';

export interface CertificateFiles {
  certFile: string;
  keyFile: string;
}

/** A certificate chain and its key, PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

export interface ListenOptions {
  host: string;
  /** 0 picks any free port. */
  port: number;
  /** Whether others of this process can listen on the port as well; call `freePort` first. */
  isPortShared: boolean;
  /** Enables HTTPS. */
  certificate?: Certificate;
  /** Path of a socket that receives requests forwarded by the old server, if there is one. */
  takeoverSocket?: string | null;
  fetch: Fetch;
}

/** A listener, in this thread or in another. */
export interface Listening {
  /** Opens another listener on the port with that certificate; open connections stay with the old one. */
  renew(certificate: Certificate): Eventually<void>;
  /** Ends the connections of the old listener with their next response. */
  endOldConnections(): Eventually<void>;
  /** Lets the old listener accept no more connections, and end those it has. */
  closeOldListener(): Eventually<void>;
  /** Still answers, but announces the stop; resolves when the stop is due, as in `Drain.end`. */
  drain(ms?: number): Promise<void>;
  /** Accepts no more connections, and lets requests in progress finish, at most 9 s after the drain began. */
  stop(): Promise<void>;
}

type Socket = Bun.Server<undefined>;

// Above the service's own limits, so that larger bodies get the service's own error.
const BODY_BYTES_MAX = 256 * 1024 * 1024;
const LIMITS = { maxRequestBodySize: BODY_BYTES_MAX, idleTimeout: SILENT_SECONDS };
// With only these suites TLS 1.0 and 1.1, which do not support them, are rejected; those of TLS 1.3 are always available.
const FORWARD_SECRET_AEAD = 'ECDHE+AESGCM:ECDHE+CHACHA20';
// Of the ten seconds that a stop can take, one is left for the database.
export const DRAIN_MS_MAX = 9_000;
// The last part of that time, for answering requests that are incomplete.
const LAST_WORD_MS = 1_000;
const RELEASED = AbortSignal.abort();

export class Listener implements Listening {
  #options: ListenOptions;
  readonly #forwarded = new ForwardedRequests();
  readonly #takeoverSocket: Socket | null;
  readonly #closing = new Set<Socket>();
  readonly #ending = new AbortController();
  #releasing = new AbortController();
  #current: Socket;
  #old: Socket | null = null;
  #drainedBy: number | null = null;
  #drain: Drain | null = null;

  /**
   * Starts to listen.
   * @throws the system's error if the port is taken, or OpenSSL's if the certificate or its key cannot be used
   */
  constructor(options: ListenOptions) {
    this.#options = options;
    this.#current = listen(options);
    limitSendBuffers();
    const { takeoverSocket, fetch } = options;
    this.#takeoverSocket = takeoverSocket
      ? listenAtPath(takeoverSocket, this.#forwarded.answer(fetch))
      : null;
  }

  /** Signals that incomplete requests must be answered now. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /** Answers requests whose bodies are incomplete. */
  endBodies(): void {
    this.#ending.abort();
  }

  /** Answers requests that are held open, because their clients should open another connection. */
  release(): void {
    this.#releasing.abort();
  }

  /** Signals that a request must no longer be held open; a forwarded one never is. */
  releaseOf(request: Request): AbortSignal {
    return this.#forwarded.peerOf(request) === undefined ? this.#releasing.signal : RELEASED;
  }

  get port(): number {
    return this.#current.port ?? this.#options.port;
  }

  /** How many requests are in progress. */
  get pending(): number {
    return this.#sockets().reduce((sum, { pendingRequests }) => sum + pendingRequests, 0);
  }

  /** The peer's network address; '' once the connection is gone. */
  peerOf(request: Request): string {
    return this.#forwarded.peerOf(request) ?? this.#current.requestIP(request)?.address ?? '';
  }

  /** Whether the response to a request is still being sent. */
  isUnsent(request: Request): boolean {
    // Bun forgets the request once the response is sent or the connection is gone.
    return this.#current.requestIP(request) !== null || this.#forwarded.isUnsent(request);
  }

  /** Closes a request's connection after this many seconds of silence; 0 means never. */
  limitSilence(request: Request, seconds: number): void {
    this.#current.timeout(request, seconds);
  }

  /** Answers all later requests with another function. */
  answerWith(fetch: Fetch): void {
    this.#options = { ...this.#options, fetch };
    for (const socket of this.#sockets()) {
      socket.reload(
        socket === this.#takeoverSocket ? { fetch: this.#forwarded.answer(fetch) } : rawPathRoutes(fetch),
      );
    }
  }

  renew(certificate: Certificate): void {
    const renewed = listen({ ...this.#options, certificate });
    limitSendBuffers();
    this.#old = this.#current;
    this.#current = renewed;
  }

  endOldConnections(): void {
    this.release();
    this.#releasing = new AbortController();
    this.#old?.reload(
      rawPathRoutes(async (request) => withConnectionClose(await this.#options.fetch(request))),
    );
  }

  closeOldListener(): void {
    const old = this.#old;
    if (old === null) return;
    this.#old = null;
    this.#closing.add(old);
    old.stop().then(() => this.#closing.delete(old));
  }

  async drain(ms?: number): Promise<void> {
    this.#drainedBy = performance.now() + DRAIN_MS_MAX;
    this.release();
    this.#drain = new Drain(this.#options.fetch);
    this.answerWith(this.#drain.fetch);
    await this.#drain.end(ms);
  }

  async stop(): Promise<void> {
    this.release();
    await this.#drain?.settle();
    const sockets = this.#sockets();
    const drainedBy = this.#drainedBy ?? performance.now() + DRAIN_MS_MAX;
    // Bun writes a warning to stderr if a timeout is negative.
    const leftMs = Math.max(0, drainedBy - performance.now());
    const lastWord = setTimeout(() => this.endBodies(), Math.max(0, leftMs - LAST_WORD_MS));
    const deadline = setTimeout(() => {
      for (const socket of sockets) socket.stop(true);
    }, leftMs);
    await Promise.all(sockets.map((socket) => socket.stop()));
    clearTimeout(lastWord);
    clearTimeout(deadline);
  }

  #sockets(): Socket[] {
    const others = [this.#old, this.#takeoverSocket].filter((socket) => socket !== null);
    return [this.#current, ...others, ...this.#closing];
  }
}

/**
 * The given port, or any if it is 0, after checking that no one listens on it. Sockets that share a port would share it with
 * another server's as well; only a normal bind detects that one.
 * @throws the system's error if the port is taken
 */
export async function freePort(host: string, port: number): Promise<number> {
  const probe = Bun.serve({ hostname: host, port, fetch: () => new Response() });
  const free = probe.port ?? port;
  await probe.stop(true);
  return free;
}

/** Reads certificate and key at the same time, so that they match; @throws the system's error */
export function readCertificate({ certFile, keyFile }: CertificateFiles): Certificate {
  return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
}

function listen({ host, port, isPortShared, certificate, fetch }: ListenOptions): Socket {
  return Bun.serve({
    hostname: host,
    port,
    ...LIMITS,
    ...rawPathRoutes(fetch),
    reusePort: isPortShared,
    ...(certificate && { tls: { ...certificate, ciphers: FORWARD_SECRET_AEAD } }),
  });
}

function listenAtPath(path: string, fetch: Fetch): Socket {
  // Bun applies the silence limit to such a socket as well, although its types do not say so.
  const limits: Pick<typeof LIMITS, 'maxRequestBodySize'> = LIMITS;
  return Bun.serve({ ...limits, unix: path, fetch });
}
