// Threads that share a port and answer requests, so that reads use every core; this thread writes for them.
import { Worker } from 'node:worker_threads';
import type { Store } from '../../db/store.ts';
import type { Certificate, Listening } from '../lifecycle/listener.ts';
import type { Handover } from '../lifecycle/takeover-old-server.ts';
import type { Metric } from '../metrics/metric-values.ts';
import type { WriteObserver } from '../pipeline/observer.ts';
import { Channel, type Handler, type Messages } from './channel.ts';
import { type WaitKind, waitHandlers } from './forwarded-waits.ts';
import { type WriteKind, writeHandlers } from './forwarded-writes.ts';
import type { ParentKind, ThreadKind, ThreadOptions } from './thread.ts';

// A compiled executable has one entry, which detects when it runs as a thread.
const ENTRY = Bun.main.includes('$bunfs') ? Bun.main : new URL('./thread.ts', import.meta.url);
const LAST_LINES_MS = 500;

/** One thread, as seen by the thread that started it. */
export class ReaderThread implements Listening, Handover {
  readonly #worker: Worker;
  readonly #channel: Channel<ThreadKind>;
  /** Whether it has ended, or was asked to. */
  #isOver = false;
  readonly #ended = Promise.withResolvers<void>();

  constructor(worker: Worker, handlers: Record<ParentKind, Handler>, onFailure: (error: unknown) => void) {
    this.#worker = worker;
    this.#channel = new Channel(
      // Sent before the next transaction blocks this thread.
      { post: (messages) => worker.postMessage(messages), gather: queueMicrotask },
      handlers,
    );
    this.#worker.on('message', (messages: Messages) => this.#channel.receive(messages));
    const fail = (error: unknown) => {
      if (this.#isOver) return;
      this.#isOver = true;
      onFailure(error);
    };
    this.#worker.on('error', fail);
    this.#worker.on('exit', (code) => {
      this.#ended.resolve();
      fail(new Error(`it exited unexpectedly with code ${code}`));
    });
  }

  /** Listens and queues requests, and receives forwarded ones on a socket at this path, unless it is null. */
  readonly wait = this.#step<string | null>('wait');
  readonly start = this.#step('start');
  readonly renew = this.#step<Certificate>('renew');
  readonly endOldConnections = this.#step('endOldConnections');
  readonly closeOldListener = this.#step('closeOldListener');
  readonly drain = this.#step<number>('drain');
  readonly queueRequests = this.#step('queueRequests');
  readonly forwardRequests = this.#step('forwardRequests');

  /** Resolves when its log lines have arrived; those of a failed thread arrive when it ends, after its error. */
  async flush(): Promise<void> {
    if (this.#isOver) await this.#ended.promise;
    else await this.#channel.ask('flush');
  }

  /** What it has counted; nothing if metrics are off. */
  async metrics(): Promise<Metric[]> {
    return JSON.parse(await this.#channel.ask('metrics'));
  }

  async stop(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#channel.ask('stop');
    await this.#worker.terminate();
  }

  // Asks the thread to take a step; resolves when it has.
  #step<T = never>(kind: ThreadKind): (value?: T) => Promise<void> {
    return async (value) => void (await this.#channel.ask(kind, JSON.stringify(value)));
  }
}

export interface ReaderThreadsOptions extends ThreadOptions {
  count: number;
  /** Receives a log line. */
  addLine: (line: string) => void;
  /** Called when a thread has failed; the process must exit. */
  onFailure: (error: unknown) => void;
  /** For tests: time for the other threads to send their last log lines after one has failed, in milliseconds. */
  lastLinesMs?: number;
}

/** Threads that listen on one port, which other processes share only during a takeover. */
export class ReaderThreads {
  readonly #threads: readonly ReaderThread[];
  #handlers: Record<WriteKind | WaitKind, Handler> | null = null;

  /** @param entry the module that each of them runs */
  constructor(options: ReaderThreadsOptions, entry: string | URL = ENTRY) {
    const { count, addLine, onFailure, lastLinesMs = LAST_LINES_MS, ...workerData } = options;
    const onStore = (kind: WriteKind | WaitKind) => (text: string) => this.#handlers?.[kind](text);
    const handlers: Record<ParentKind, Handler> = {
      write: onStore('write'),
      updateIndex: onStore('updateIndex'),
      noteUse: onStore('noteUse'),
      record: onStore('record'),
      ready: onStore('ready'),
      wait: onStore('wait'),
      endWait: onStore('endWait'),
      lines: (text) => {
        for (const line of text.split('\n')) addLine(line);
      },
    };
    const fail = async (error: unknown) => {
      const flushed = Promise.all(this.#threads.map((thread) => thread.flush()));
      await Promise.race([flushed, Bun.sleep(lastLinesMs)]);
      onFailure(error);
    };
    this.#threads = Array.from(
      { length: count },
      () => new ReaderThread(new Worker(entry, { workerData }), handlers, fail),
    );
  }

  /**
   * Listens, and holds requests until `start`.
   * @param takeoverSocket path of a socket on which the first thread receives forwarded requests; null for none
   * @throws the error of a thread that cannot listen
   */
  async wait(takeoverSocket: string | null): Promise<void> {
    // Waits until all threads are loaded, so that requests to the first do not wait for the last.
    await this.#each((thread) => thread.flush());
    await this.#each((thread, index) => thread.wait(index === 0 ? takeoverSocket : null));
  }

  /**
   * Listens, unless `wait` already did, and answers.
   * @param store of the file, opened with the shared memory
   * @param observer receives what was written for the threads
   * @throws the error of a thread that cannot start
   */
  async start(store: Store, observer?: WriteObserver): Promise<readonly ReaderThread[]> {
    this.#handlers = { ...writeHandlers(store, { observer }), ...waitHandlers(store.signals) };
    await this.#each(({ start }) => start());
    return this.#threads;
  }

  /** Ends the threads if one could not start. */
  async stop(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.stop()));
  }

  async #each(step: (thread: ReaderThread, index: number) => Promise<void>): Promise<void> {
    try {
      await Promise.all(this.#threads.map(step));
    } catch (error) {
      await this.stop();
      throw error;
    }
  }
}
