// Threads that share a port and answer requests, so that reads use every core; what they write this one writes for them.
import { Worker } from 'node:worker_threads';
import type { Store } from '../../db/store.ts';
import type { Certificate, Listening } from '../listener.ts';
import type { Metric } from '../metrics/sheet.ts';
import type { WriteObserver } from '../pipeline/observer.ts';
import { Channel, type Handler, type Messages } from './channel.ts';
import type { ParentKind, ThreadKind, ThreadOptions } from './thread.ts';
import { writeHandlers } from './writes.ts';

// A compiled executable has one entry, which knows by itself when it is run as a thread.
const ENTRY = Bun.main.includes('$bunfs') ? Bun.main : new URL('./thread.ts', import.meta.url);
/** What the other threads have for their last lines once one has failed. */
const LAST_LINES_MS = 500;

/** One thread, as seen from the one that started it. */
export class ReaderThread implements Listening {
  readonly #worker: Worker;
  readonly #channel: Channel<ThreadKind>;
  /** Whether it has ended, or was asked to. */
  #isOver = false;

  constructor(worker: Worker, handlers: Record<ParentKind, Handler>, onFailure: (error: unknown) => void) {
    this.#worker = worker;
    this.#channel = new Channel(
      // Before the next transaction, which keeps this thread busy.
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
    this.#worker.on('exit', (code) => fail(new Error(`it ended by itself, with ${code}`)));
  }

  async start(): Promise<void> {
    await this.#channel.ask('start');
  }

  async flush(): Promise<void> {
    if (!this.#isOver) await this.#channel.ask('flush');
  }

  /** What it has counted; nothing where that was not asked for. */
  async metrics(): Promise<Metric[]> {
    return JSON.parse(await this.#channel.ask('metrics'));
  }

  async renew(certificate: Certificate): Promise<void> {
    await this.#channel.ask('renew', JSON.stringify(certificate));
  }

  async endFormer(): Promise<void> {
    await this.#channel.ask('endFormer');
  }

  async closeFormer(): Promise<void> {
    await this.#channel.ask('closeFormer');
  }

  async drain(ms?: number): Promise<void> {
    await this.#channel.ask('drain', ms === undefined ? '' : String(ms));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#channel.ask('stop');
    await this.#worker.terminate();
  }
}

export interface ReaderThreadsOptions extends ThreadOptions {
  count: number;
  /** The store of the file, open with the memory in common. */
  store: Store;
  /** Is told what was written for the threads. */
  writeObserver?: WriteObserver | undefined;
  /** Takes a line of the log. */
  addLine: (line: string) => void;
  /** Called when a thread has failed: the process must end. */
  onFailure: (error: unknown) => void;
}

/**
 * Starts threads that listen on one port, which nobody else listens on.
 * @param entry the module that each of them runs
 * @throws what keeps one of them from it
 */
export async function startReaderThreads(
  options: ReaderThreadsOptions,
  entry: string | URL = ENTRY,
): Promise<readonly ReaderThread[]> {
  const { count, store, writeObserver, addLine, onFailure, ...threadOptions } = options;
  const workerData: ThreadOptions = { ...threadOptions, threads: count };
  const handlers: Record<ParentKind, Handler> = {
    ...writeHandlers(store, { observer: writeObserver }),
    lines: (text) => {
      for (const line of text.split('\n')) addLine(line);
    },
  };
  const threads: ReaderThread[] = [];
  const fail = async (error: unknown) => {
    const flushed = Promise.all(threads.map((thread) => thread.flush()));
    await Promise.race([flushed, Bun.sleep(LAST_LINES_MS)]);
    onFailure(error);
  };
  for (let number = 0; number < count; number++)
    threads.push(new ReaderThread(new Worker(entry, { workerData }), handlers, fail));
  try {
    await Promise.all(threads.map((thread) => thread.start()));
  } catch (error) {
    await Promise.all(threads.map((thread) => thread.stop()));
    throw error;
  }
  return threads;
}
