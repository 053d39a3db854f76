// Where requests arrive: in this thread or in other threads, which can start to listen before they can answer.
import type { SharedMemory } from '../db/counters/shared-memory.ts';
import type { Network } from '../db/networks.ts';
import type { Store } from '../db/store.ts';
import { type ServerAddresses, serverAddresses, startAppServer } from './lifecycle/app-server.ts';
import { sharesPort } from './lifecycle/kernel-sockets.ts';
import {
  type CertificateFiles,
  freePort,
  type Listening,
  type ListenOptions,
  readCertificate,
} from './lifecycle/listener.ts';
import { QueueingListener } from './lifecycle/request-queue.ts';
import type { Handover } from './lifecycle/takeover-old-server.ts';
import { createTakeoverSocket, type TakeoverSocket } from './lifecycle/takeover-socket.ts';
import { createLogger, type LogStyle } from './logging/logger.ts';
import type { Measurement, RequestMetricsReader } from './metrics/measurement.ts';
import { RequestMetrics } from './metrics/request-metrics.ts';
import type { BodyTimeouts } from './pipeline/body-timeouts.ts';
import { storeExecutor } from './pipeline/execute.ts';
import type { InFlightLimits } from './quotas/in-flight-budget.ts';
import { ReaderThreads } from './readers/reader-threads.ts';

export interface ListenerGroupOptions {
  /** Path of the database file, or database URL. */
  db: string;
  host: string;
  /** 0 picks any free port. */
  port: number;
  /** The public URL of the service, if it differs from the listen address. */
  baseUrl?: string;
  tls?: CertificateFiles;
  /** Proxies whose X-Forwarded-For is trusted; none by default. */
  trustedProxies?: readonly Network[];
  /** Where webhooks can be sent besides public addresses; nowhere else by default. */
  webhookNetworks?: readonly Network[] | undefined;
  keyLimit: number;
  orgLimit: number;
  /** Bytes of request bodies, and of responses, that an organization and the server can have in flight. */
  inFlightLimits?: InFlightLimits;
  /** How slowly bodies can arrive, and how long they wait for room, in milliseconds. */
  bodyTimeouts?: BodyTimeouts;
  bodyWaitMs?: number;
  /** Threads that answer requests while this one only writes; 0 by default. Database files only. */
  readers?: number;
  log: LogStyle;
}

export interface ListenerGroupParts {
  /** Receives what is to be counted. */
  measurement: Measurement | undefined;
  /** Memory that reader threads share; undefined without reader threads. */
  common: SharedMemory | undefined;
  /** Receives a log line. */
  addLine: (line: string) => void;
  /** Called when a thread has failed; the process must exit. */
  onFailure: (error: unknown) => void;
}

/** The open listeners, which answer requests. */
export interface OpenListeners extends ServerAddresses {
  listeners: readonly Listening[];
  handovers: readonly Handover[];
  requestMetrics: readonly RequestMetricsReader[];
}

type ServerOptions = Omit<ListenerGroupOptions, 'tls'> & Pick<ListenOptions, 'isPortShared' | 'certificate'>;

export class ListenerGroup {
  readonly #options: ListenerGroupOptions;
  readonly #parts: ListenerGroupParts;
  #queue: QueueingListener | null = null;
  #threads: ReaderThreads | null = null;
  #listener: Listening | null = null;
  #takeoverSocket: TakeoverSocket | null = null;

  constructor(options: ListenerGroupOptions, parts: ListenerGroupParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** How many listeners it has. */
  get count(): number {
    return this.#options.readers || 1;
  }

  /** Path of the socket that receives handed-over requests; null if there is none. */
  get takeoverSocket(): string | null {
    return this.#takeoverSocket?.path ?? null;
  }

  /**
   * Listens on a port that another process uses as well, receives the requests it hands over, and lets all requests wait.
   * @throws the system's error if the port is taken, or OpenSSL's if the certificate cannot be used
   */
  async wait(): Promise<void> {
    const server = this.#serverOptions(true, this.#options.port);
    this.#takeoverSocket = createTakeoverSocket();
    if (this.#parts.common !== undefined)
      return this.#threadsOf(server, this.#parts.common).wait(this.takeoverSocket);
    const { takeoverSocket } = this;
    this.#queue = new QueueingListener({ ...server, takeoverSocket }, serverAddresses(server).url);
  }

  /**
   * Listens, unless it already does, and answers requests.
   * @throws the system's error if the port is taken, or OpenSSL's if the certificate cannot be used
   */
  async start(store: Store): Promise<OpenListeners> {
    const isAlone = this.#queue === null && this.#threads === null;
    const server = await this.#chooseOptions(this.#parts.common);
    const open = await this.#open(store, server);
    if (isAlone && server.isPortShared) assertListensAlone(server);
    return open;
  }

  async #open(store: Store, server: ServerOptions): Promise<OpenListeners> {
    const { common, addLine, measurement } = this.#parts;
    if (common !== undefined) {
      const threads = this.#threadsOf(server, common);
      const listeners = await threads.start(store, measurement?.batches);
      const requestMetrics = listeners.map((thread) => () => thread.metrics());
      return { ...serverAddresses(server), listeners, handovers: listeners, requestMetrics };
    }
    const logger = createLogger(this.#options.log, addLine);
    const observer = measurement && new RequestMetrics();
    const executor = storeExecutor(store, { observer: measurement?.batches });
    const opened = startAppServer({ ...server, store, executor, logger, observer }, this.#queue);
    const { listener, handover, ...addresses } = opened;
    this.#listener = listener;
    const count = () => observer?.metrics(listener.pending) ?? [];
    return { ...addresses, listeners: [listener], handovers: [handover], requestMetrics: [count] };
  }

  /** Rejects waiting requests and stops listening; for listeners that will not answer. */
  async close(): Promise<void> {
    await Promise.all([this.#queue?.close(), this.#listener?.stop(), this.#threads?.stop()]);
    this.removeTakeoverSocket();
  }

  /** Removes the handover socket once no one listens on it. */
  removeTakeoverSocket(): void {
    this.#takeoverSocket?.remove();
  }

  // Shared by threads, by listeners with an old and a new certificate, and by a server that takes over later. A port
  // chosen by the system is not taken over, since no one can name it in advance.
  async #chooseOptions(common: SharedMemory | undefined): Promise<ServerOptions> {
    const { host, port, tls } = this.#options;
    if (this.#queue !== null || this.#threads !== null) return this.#serverOptions(true, port);
    const isPortShared =
      common !== undefined || tls !== undefined || (port !== 0 && process.platform === 'linux');
    return this.#serverOptions(isPortShared, isPortShared ? await freePort(host, port) : port);
  }

  #serverOptions(isPortShared: boolean, port: number): ServerOptions {
    const { tls, ...options } = this.#options;
    return { ...options, isPortShared, port, ...(tls && { certificate: readCertificate(tls) }) };
  }

  #threadsOf(server: ServerOptions, common: SharedMemory): ReaderThreads {
    const { addLine, onFailure, measurement } = this.#parts;
    this.#threads ??= new ReaderThreads({
      ...{ ...server, common, count: this.count },
      ...{ addLine, onFailure, isMeasured: measurement !== undefined },
    });
    return this.#threads;
  }
}

/**
 * Two servers that start at the same time both find a port free, and can both listen on it if it can be shared: each would
 * get some of the requests.
 * @throws EADDRINUSE, as for a port that is taken
 */
function assertListensAlone({ port }: ServerOptions): void {
  if (!sharesPort(port)) return;
  throw Object.assign(new Error(`port ${port} is in use`), { code: 'EADDRINUSE' });
}
