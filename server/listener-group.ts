// Where requests come in: by this thread, or by others of this process, which may listen before anything can be answered.
import type { CommonMemory } from '../db/counters/shared-memory.ts';
import type { Network } from '../db/networks.ts';
import type { Store } from '../db/store.ts';
import { type Addresses, addressesOf, openFront } from './lifecycle/app-server.ts';
import {
  type CertificateFiles,
  freePort,
  type Listening,
  type ListenOptions,
  readCertificate,
} from './lifecycle/listener.ts';
import { WaitingRoom } from './lifecycle/queueing-listener.ts';
import type { HandingOver } from './lifecycle/takeover-old-server.ts';
import { type InletPlace, inletPlace } from './lifecycle/takeover-socket.ts';
import { createLogger, type LogStyle } from './logging/logger.ts';
import type { FrontCount, Measurement } from './metrics/measurement.ts';
import { FrontMetrics } from './metrics/request-metrics.ts';
import type { BodyPaces } from './pipeline/body-timeouts.ts';
import { storeExecutor } from './pipeline/execute.ts';
import type { InFlightLimits } from './quotas/in-flight-budget.ts';
import { ReaderThreads } from './readers/reader-threads.ts';

export interface EntranceOptions {
  /** Path of the database file, or the address of a database. */
  db: string;
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** Where clients reach the service, if that is not where it listens. */
  baseUrl?: string;
  tls?: CertificateFiles;
  /** Whose X-Forwarded-For is believed; nobody's unless said. */
  trustedProxies?: readonly Network[];
  keyLimit: number;
  orgLimit: number;
  /** Bytes of request bodies that an organization, and all together, may have under way, and as many of answers. */
  inFlightLimits?: InFlightLimits;
  /** How slowly bodies may come, and how long they wait for their room, in milliseconds. */
  bodyPaces?: BodyPaces;
  bodyWaitMs?: number;
  /** Threads that answer requests, this one only writing for them; 0, unless said, for none. Of a file only. */
  readers?: number;
  log: LogStyle;
}

export interface EntranceParts {
  /** Is told what is to be counted. */
  measurement: Measurement | undefined;
  /** What reader threads share; undefined where there are none. */
  common: CommonMemory | undefined;
  /** Takes a line of the log. */
  addLine: (line: string) => void;
  /** Called when a thread has failed: the process must end. */
  onFailure: (error: unknown) => void;
}

/** An entrance that answers. */
export interface OpenEntrance extends Addresses {
  listeners: readonly Listening[];
  handovers: readonly HandingOver[];
  fronts: readonly FrontCount[];
}

type Front = Omit<EntranceOptions, 'tls'> & Pick<ListenOptions, 'isPortShared' | 'certificate'>;

export class Entrance {
  readonly #options: EntranceOptions;
  readonly #parts: EntranceParts;
  #room: WaitingRoom | null = null;
  #threads: ReaderThreads | null = null;
  #listener: Listening | null = null;
  #inlet: InletPlace | null = null;

  constructor(options: EntranceOptions, parts: EntranceParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** How many listeners it has. */
  get count(): number {
    return this.#options.readers || 1;
  }

  /** Path of the socket on which it takes what a former server hands over; null where it does not. */
  get inlet(): string | null {
    return this.#inlet?.path ?? null;
  }

  /**
   * Listens on a port that another process has too, where that can hand requests over, and has requests wait.
   * @throws the system's error if the address cannot be taken, or OpenSSL's if the certificate cannot be used
   */
  async wait(): Promise<void> {
    const front = this.#front(true, this.#options.port);
    this.#inlet = inletPlace();
    if (this.#parts.common !== undefined) return this.#threadsOf(front, this.#parts.common).wait(this.inlet);
    const inlet = this.inlet ?? undefined;
    this.#room = new WaitingRoom({ ...front, ...(inlet && { inlet }) }, addressesOf(front).url);
  }

  /**
   * Listens, unless it does, and answers.
   * @throws the system's error if the address cannot be taken, or OpenSSL's if the certificate cannot be used
   */
  async start(store: Store): Promise<OpenEntrance> {
    const { common, addLine, measurement } = this.#parts;
    const front = await this.#frontOf(common);
    if (common !== undefined) {
      const threads = this.#threadsOf(front, common);
      const listeners = await threads.start(store, measurement?.batches);
      const fronts = listeners.map((thread) => () => thread.metrics());
      return { ...addressesOf(front), listeners, handovers: listeners, fronts };
    }
    const logger = createLogger(this.#options.log, addLine);
    const observer = measurement && new FrontMetrics();
    const executor = storeExecutor(store, { observer: measurement?.batches });
    const optional = { ...(logger && { logger }), ...(observer && { observer }) };
    const opened = openFront({ ...front, store, executor, ...optional }, this.#room);
    const { listener, handover, ...addresses } = opened;
    this.#listener = listener;
    const count = () => observer?.metrics(listener.pending) ?? [];
    return { ...addresses, listeners: [listener], handovers: [handover], fronts: [count] };
  }

  /** Sends away those that wait, and listens no more; for an entrance from which nothing is answered. */
  async close(): Promise<void> {
    await Promise.all([this.#room?.close(), this.#listener?.stop(), this.#threads?.stop()]);
    this.removeInlet();
  }

  /** Removes the place of the inlet, once nobody listens there. */
  removeInlet(): void {
    this.#inlet?.remove();
  }

  // A port is shared by threads, by listeners with certificates of two ages, and with the server that takes over one day;
  // one that nobody could name is not taken over.
  async #frontOf(common: CommonMemory | undefined): Promise<Front> {
    const { host, port, tls } = this.#options;
    if (this.#room !== null || this.#threads !== null) return this.#front(true, port);
    const isPortShared =
      common !== undefined || tls !== undefined || (port !== 0 && process.platform === 'linux');
    return this.#front(isPortShared, isPortShared ? await freePort(host, port) : port);
  }

  #front(isPortShared: boolean, port: number): Front {
    const { tls, ...options } = this.#options;
    return { ...options, isPortShared, port, ...(tls && { certificate: readCertificate(tls) }) };
  }

  #threadsOf(front: Front, common: CommonMemory): ReaderThreads {
    const { addLine, onFailure, measurement } = this.#parts;
    this.#threads ??= new ReaderThreads({
      ...{ ...front, common, count: this.count },
      ...{ addLine, onFailure, isMeasured: measurement !== undefined },
    });
    return this.#threads;
  }
}
