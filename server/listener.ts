// Where the server listens: HTTP or HTTPS, with certificates that can be read anew while it runs, and an end that drains.
import { readFileSync } from 'node:fs';
import { Drain, type Fetch, lastOfConnection } from './drain.ts';
import { SILENT_SECONDS } from './pipeline/pipeline.ts';
import { takeOver } from './steer-connections.ts';

export interface CertificateFiles {
  certFile: string;
  keyFile: string;
}

export interface ListenOptions {
  host: string;
  /** 0 takes any free port. */
  port: number;
  tls?: CertificateFiles;
  fetch: Fetch;
}

type Socket = Bun.Server<undefined>;

// Above the service's own limits, so that too large bodies get its own answer.
const BODY_BYTES_MAX = 256 * 1024 * 1024;
// With nothing else in the list TLS 1.0 and 1.1, which have no such suites, are refused too; those of TLS 1.3 are all alike.
const FORWARD_SECRET_AEAD = 'ECDHE+AESGCM:ECDHE+CHACHA20';
const RETIREMENT_MS = 2_000;
// A second is left of the ten that a stop may take, for the database.
const DRAIN_MS_MAX = 9_000;

export class Listener {
  #options: ListenOptions;
  readonly #retiring = new Set<Socket>();
  #current: Socket;
  #retirement: Promise<void> = Promise.resolve();
  #drainedBy: number | null = null;

  private constructor(options: ListenOptions, first: Socket) {
    this.#options = options;
    this.#current = first;
  }

  /**
   * Starts to listen.
   * @throws the system's error if the address cannot be taken, or OpenSSL's if the certificate or its key cannot be used
   */
  static async open(options: ListenOptions): Promise<Listener> {
    if (options.tls === undefined) return new Listener(options, listen(options));
    // Sockets that share a port would share it with another server's too: only a bind of the usual kind finds that one.
    const probe = listen(options);
    const taken = { ...options, port: probe.port ?? options.port };
    await probe.stop(true);
    return new Listener(taken, listen(taken, readCertificate(options.tls)));
  }

  get port(): number {
    return this.#current.port ?? this.#options.port;
  }

  /** The network address at the other end; '' once the connection is gone. */
  peerOf(request: Request): string {
    return this.#current.requestIP(request)?.address ?? '';
  }

  /** Has a request's connection closed when nothing comes or goes on it for so long. */
  limitSilence(request: Request, seconds: number): void {
    this.#current.timeout(request, seconds);
  }

  /**
   * Reads certificate and key anew for the connections to come; those that are open keep theirs, and end with their next
   * answer. False where it serves no HTTPS.
   * @throws the reason why they cannot be used; what was served before goes on being served
   */
  async reopenCertificates(): Promise<boolean> {
    const { tls } = this.#options;
    if (tls === undefined) return false;
    // One at a time: three listeners on a port would not stand in the order of their age.
    let former: Promise<void>;
    do {
      former = this.#retirement;
      await former;
    } while (former !== this.#retirement);
    const certificate = readCertificate(tls);
    const old = this.#current;
    const { listener, isSole } = takeOver(() => listen(this.#options, certificate));
    this.#current = listener;
    this.#retirement = this.#retire(old, isSole);
    return true;
  }

  async #retire(old: Socket, getsNoMore: boolean): Promise<void> {
    this.#retiring.add(old);
    if (getsNoMore) {
      old.reload({ fetch: async (request) => lastOfConnection(await this.#options.fetch(request)) });
      await Bun.sleep(RETIREMENT_MS);
    }
    old.stop().then(() => this.#retiring.delete(old));
  }

  /** Goes on answering, but says that it is about to stop; resolves when it should, as `Drain.end` has it. */
  async drain(ms?: number): Promise<void> {
    this.#drainedBy = performance.now() + DRAIN_MS_MAX;
    const drain = new Drain(this.#options.fetch);
    this.#options = { ...this.#options, fetch: drain.fetch };
    for (const socket of this.#sockets()) socket.reload({ fetch: drain.fetch });
    await drain.end(ms);
  }

  /** Takes no more connections, and lets the requests that are here finish, for at most 9 s since it began to drain. */
  async stop(): Promise<void> {
    const sockets = this.#sockets();
    const drainedBy = this.#drainedBy ?? performance.now() + DRAIN_MS_MAX;
    const deadline = setTimeout(() => {
      for (const socket of sockets) socket.stop(true);
    }, drainedBy - performance.now());
    await Promise.all(sockets.map((socket) => socket.stop()));
    clearTimeout(deadline);
  }

  #sockets(): Socket[] {
    return [this.#current, ...this.#retiring];
  }
}

interface Certificate {
  cert: string;
  key: string;
}

// Both at once, so that they belong together.
function readCertificate({ certFile, keyFile }: CertificateFiles): Certificate {
  return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
}

function listen({ host, port, fetch }: ListenOptions, certificate?: Certificate): Socket {
  return Bun.serve({
    hostname: host,
    port,
    maxRequestBodySize: BODY_BYTES_MAX,
    idleTimeout: SILENT_SECONDS,
    fetch,
    ...(certificate && { reusePort: true, tls: { ...certificate, ciphers: FORWARD_SECRET_AEAD } }),
  });
}
