// Where a thread listens: HTTP or HTTPS, with certificates that can be renewed while it runs, and an end that drains.
import { readFileSync } from 'node:fs';
import type { Eventually } from '../../db/engine/engine.ts';
import { SILENT_SECONDS } from '../pipeline/body.ts';
import { Drain, type Fetch, lastOfConnection } from './drain.ts';
import { limitUnsent } from './kernel-sockets.ts';
import { bySentPath } from './raw-path-routes.ts';
import { Arrivals } from './takeover-socket.ts';

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
  /** 0 takes any free port. */
  port: number;
  /** Whether others of this process may listen on the port too; such a port is taken after `freePort` only. */
  isPortShared: boolean;
  /** Makes it HTTPS. */
  certificate?: Certificate;
  /** Path of a socket on which to take what a former server hands over, too. */
  inlet?: string;
  fetch: Fetch;
}

/** What listens, in this thread or in another. */
export interface Listening {
  /** Opens another listener on the port, with that certificate; what is open on the former one goes on. */
  renew(certificate: Certificate): Eventually<void>;
  /** Has the connections of the former one end with their next answer. */
  endFormer(): Eventually<void>;
  /** Has the former one take no more connections, and end with those it has. */
  closeFormer(): Eventually<void>;
  /** Goes on answering, but says that it is about to stop; resolves when it should, as `Drain.end` has it. */
  drain(ms?: number): Promise<void>;
  /** Takes no more connections, and lets the requests that are here finish, for at most 9 s since it began to drain. */
  stop(): Promise<void>;
}

type Socket = Bun.Server<undefined>;

// Above the service's own limits, so that too large bodies get its own answer.
const BODY_BYTES_MAX = 256 * 1024 * 1024;
const LIMITS = { maxRequestBodySize: BODY_BYTES_MAX, idleTimeout: SILENT_SECONDS };
// With nothing else in the list TLS 1.0 and 1.1, which have no such suites, are refused too; those of TLS 1.3 are all alike.
const FORWARD_SECRET_AEAD = 'ECDHE+AESGCM:ECDHE+CHACHA20';
// A second is left of the ten that a stop may take, for the database.
export const DRAIN_MS_MAX = 9_000;
// Of these, what is left for answers to requests that have not come whole.
const LAST_WORD_MS = 1_000;

export class Listener implements Listening {
  #options: ListenOptions;
  readonly #arrivals = new Arrivals();
  readonly #inlet: Socket | null;
  readonly #closing = new Set<Socket>();
  readonly #ending = new AbortController();
  #current: Socket;
  #former: Socket | null = null;
  #drainedBy: number | null = null;
  #drain: Drain | null = null;

  /**
   * Starts to listen.
   * @throws the system's error if the address cannot be taken, or OpenSSL's if the certificate or its key cannot be used
   */
  constructor(options: ListenOptions) {
    this.#options = options;
    this.#current = listen(options);
    limitUnsent();
    const { inlet, fetch } = options;
    this.#inlet = inlet === undefined ? null : listenAtPath(inlet, this.#arrivals.answer(fetch));
  }

  /** Says when what has not come whole is to be answered as it is. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /** Has requests answered whose bodies have not come whole. */
  endBodies(): void {
    this.#ending.abort();
  }

  get port(): number {
    return this.#current.port ?? this.#options.port;
  }

  /** How many requests are being answered. */
  get pending(): number {
    return this.#sockets().reduce((sum, { pendingRequests }) => sum + pendingRequests, 0);
  }

  /** The network address at the other end; '' once the connection is gone. */
  peerOf(request: Request): string {
    return this.#handedOver(request) ?? this.#current.requestIP(request)?.address ?? '';
  }

  /** Whether the answer to a request is still being sent. */
  isUnsent(request: Request): boolean {
    // Bun forgets the request once the answer is sent, or the connection is gone.
    return this.#current.requestIP(request) !== null || this.#arrivals.isUnsent(request);
  }

  /** Has a request's connection closed when nothing comes or goes on it for so long; never for 0. */
  limitSilence(request: Request, seconds: number): void {
    this.#current.timeout(request, seconds);
  }

  /** Has what comes from now on answered in another way. */
  answerWith(fetch: Fetch): void {
    this.#options = { ...this.#options, fetch };
    for (const socket of this.#sockets()) {
      socket.reload(socket === this.#inlet ? { fetch: this.#arrivals.answer(fetch) } : bySentPath(fetch));
    }
  }

  renew(certificate: Certificate): void {
    const renewed = listen({ ...this.#options, certificate });
    limitUnsent();
    this.#former = this.#current;
    this.#current = renewed;
  }

  endFormer(): void {
    this.#former?.reload(bySentPath(async (request) => lastOfConnection(await this.#options.fetch(request))));
  }

  closeFormer(): void {
    const former = this.#former;
    if (former === null) return;
    this.#former = null;
    this.#closing.add(former);
    former.stop().then(() => this.#closing.delete(former));
  }

  async drain(ms?: number): Promise<void> {
    this.#drainedBy = performance.now() + DRAIN_MS_MAX;
    this.#drain = new Drain(this.#options.fetch);
    this.answerWith(this.#drain.fetch);
    await this.#drain.end(ms);
  }

  async stop(): Promise<void> {
    await this.#drain?.settle();
    const sockets = this.#sockets();
    const drainedBy = this.#drainedBy ?? performance.now() + DRAIN_MS_MAX;
    const leftMs = drainedBy - performance.now();
    const lastWord = setTimeout(() => this.endBodies(), leftMs - LAST_WORD_MS);
    const deadline = setTimeout(() => {
      for (const socket of sockets) socket.stop(true);
    }, leftMs);
    await Promise.all(sockets.map((socket) => socket.stop()));
    clearTimeout(lastWord);
    clearTimeout(deadline);
  }

  #sockets(): Socket[] {
    const others = [this.#former, this.#inlet].filter((socket) => socket !== null);
    return [this.#current, ...others, ...this.#closing];
  }

  #handedOver(request: Request): string | undefined {
    return this.#inlet === null ? undefined : this.#arrivals.peerOf(request);
  }
}

/**
 * A port, that one unless it is 0, which nobody listens on. Sockets that share a port would share it with another
 * server's too: only a bind of the usual kind finds that one.
 * @throws the system's error if the address cannot be taken
 */
export async function freePort(host: string, port: number): Promise<number> {
  const probe = Bun.serve({ hostname: host, port, fetch: () => new Response() });
  const free = probe.port ?? port;
  await probe.stop(true);
  return free;
}

/** Reads certificate and key, both at once, so that they belong together; @throws the system's error */
export function readCertificate({ certFile, keyFile }: CertificateFiles): Certificate {
  return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
}

function listen({ host, port, isPortShared, certificate, fetch }: ListenOptions): Socket {
  return Bun.serve({
    hostname: host,
    port,
    ...LIMITS,
    ...bySentPath(fetch),
    reusePort: isPortShared,
    ...(certificate && { tls: { ...certificate, ciphers: FORWARD_SECRET_AEAD } }),
  });
}

function listenAtPath(path: string, fetch: Fetch): Socket {
  // Bun keeps to the limit of silence on such a socket, too, of which its types know nothing.
  const limits: Pick<typeof LIMITS, 'maxRequestBodySize'> = LIMITS;
  return Bun.serve({ ...limits, unix: path, fetch });
}
