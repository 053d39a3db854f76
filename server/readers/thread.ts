// The entry of a thread that answers requests: it reads by itself, and writes through the thread that started it.
import { parentPort, workerData } from 'node:worker_threads';
import type { SharedMemory } from '../../db/counters/shared-memory.ts';
import { openThreadStore } from '../../db/store.ts';
import { type AppServerOptions, serverAddresses, startAppServer } from '../lifecycle/app-server.ts';
import type { Certificate } from '../lifecycle/listener.ts';
import { QueueingListener } from '../lifecycle/request-queue.ts';
import { createLogger, type LogStyle } from '../logging/logger.ts';
import { RequestMetrics } from '../metrics/request-metrics.ts';
import { Channel, type Handler, type Messages } from './channel.ts';
import { remoteSignals, type WaitKind } from './forwarded-waits.ts';
import { remoteExecutor, type WriteKind } from './forwarded-writes.ts';

/** Options of a thread. */
export interface ThreadOptions
  extends Omit<AppServerOptions, 'store' | 'executor' | 'logger' | 'observer' | 'now'> {
  common: SharedMemory;
  log: LogStyle;
  /** Whether metrics are on; off by default. */
  isMeasured?: boolean;
}

/** What a thread can be asked. */
export type ThreadKind =
  | 'wait'
  | 'start'
  | 'metrics'
  | 'renew'
  | 'endOldConnections'
  | 'closeOldListener'
  | 'drain'
  | 'queueRequests'
  | 'forwardRequests'
  | 'flush'
  | 'stop';
/** What it asks, or sends to, the thread that started it. */
export type ParentKind = WriteKind | WaitKind | 'lines';

const LINES_AFTER_MS = 10;

/** Sends log lines to the thread that writes them. */
class LineSender {
  readonly #send: (lines: string) => void;
  #lines: string[] = [];

  constructor(send: (lines: string) => void) {
    this.#send = send;
  }

  add(line: string): void {
    if (this.#lines.length === 0) setTimeout(() => this.flush(), LINES_AFTER_MS).unref();
    this.#lines.push(line);
  }

  flush(): void {
    if (this.#lines.length === 0) return;
    this.#send(this.#lines.join('\n'));
    this.#lines = [];
  }
}

function run(port: NonNullable<typeof parentPort>, options: ThreadOptions): void {
  const lines = new LineSender((text) => parent.tell('lines', text));
  let queue: QueueingListener | null = null;
  const open = () => {
    const store = openThreadStore(options.db, options.common, {
      ready: async () => void (await parent.ask('ready')),
      signals: remoteSignals(parent),
    });
    const logger = createLogger(options.log, (line) => lines.add(line));
    const executor = remoteExecutor(parent);
    const observer = options.isMeasured ? new RequestMetrics() : undefined;
    return { store, observer, ...startAppServer({ ...options, store, executor, logger, observer }, queue) };
  };
  let opened: ReturnType<typeof open> | undefined;
  const handlers: Record<ThreadKind, Handler> = {
    wait: (text) => {
      const takeoverSocket = JSON.parse(text) as string | null;
      queue = new QueueingListener({ ...options, takeoverSocket }, serverAddresses(options).url);
    },
    start: () => {
      opened = open();
    },
    metrics: () => JSON.stringify(opened?.observer?.metrics(opened.listener.pending) ?? []),
    renew: (text) => opened?.listener.renew(JSON.parse(text) as Certificate),
    endOldConnections: () => opened?.listener.endOldConnections(),
    closeOldListener: () => opened?.listener.closeOldListener(),
    drain: (text) => opened?.listener.drain(text === '' ? undefined : Number(text)),
    queueRequests: () => opened?.handover.queueRequests(),
    forwardRequests: async () => {
      opened?.store.close();
      lines.flush();
      await opened?.handover.forwardRequests();
    },
    flush: () => lines.flush(),
    stop: async () => {
      await (opened?.listener.stop() ?? queue?.close());
      opened?.store.close();
      lines.flush();
    },
  };
  const parent = new Channel<ParentKind>(
    // Requests of one turn are sent together, and so share one transaction.
    { post: (messages) => port.postMessage(messages), gather: (send) => setImmediate(send) },
    handlers,
  );
  port.on('message', (messages: Messages) => parent.receive(messages));
  process.on('exit', () => {
    lines.flush();
    parent.send();
  });
}

if (parentPort !== null) run(parentPort, workerData as ThreadOptions);
