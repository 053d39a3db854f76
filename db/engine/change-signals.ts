// Wakes those that wait for changes of an organization, whichever process made them.
import { Coalescer } from '../coalescer.ts';
import { sharedNextTurn } from '../event-loop.ts';
import type { Eventually } from './engine.ts';

/** The sequence number of the last change of organizations, by their numbers. */
export type LastChanges = ReadonlyMap<number, number>;

/** How to wait for changes, without a transaction or a connection. */
export interface ChangeSignals {
  /**
   * Resolves once the organization can have changes after that sequence number, or has lost the one with that number, or
   * `signal` is aborted. Changes of this process are noticed at once, those of others within a second.
   * @throws the engine's error if the database cannot be read
   */
  wait(orgNumber: number, after: number, signal: AbortSignal): Promise<void>;
}

/** Receives what an engine notices while anyone waits. */
export interface ChangeListener {
  /** Other processes may have committed. */
  look(): void;
  /** Organizations have changes up to these. */
  heard(last: LastChanges): void;
}

/** How an engine notices the changes of other processes. */
export interface ChangeSource {
  /** The last changes of organizations, at least as new as the call. */
  findLast(orgNumbers: readonly number[]): Promise<LastChanges>;
  /** Begins to notice; what it returns ends that. */
  watch(listener: ChangeListener): () => Eventually<void>;
}

interface Waiter {
  after: number;
  wake(): void;
}

// A reader that follows a log soon waits again; until then it costs little to go on watching.
const LINGER_MS = 10_000;

/** The signals of a process that commits changes itself. */
export class ProcessSignals implements ChangeSignals, ChangeListener {
  readonly #source: ChangeSource;
  readonly #waiting = new Map<number, Set<Waiter>>();
  readonly #asking = new Coalescer<number, number>(async (orgNumbers) => {
    const last = await this.#source.findLast([...new Set(orgNumbers)]);
    return orgNumbers.map((one) => last.get(one) ?? 0);
  });
  #endWatch: (() => Eventually<void>) | null = null;
  #linger: Timer | undefined;
  #isLooking = false;
  #isClosed = false;

  constructor(source: ChangeSource) {
    this.#source = source;
  }

  async wait(orgNumber: number, after: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#isClosed) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { after, wake: resolve };
    const leave = this.#enter(orgNumber, waiter);
    signal.addEventListener('abort', waiter.wake, { once: true });
    // Changes could have been committed since the caller looked.
    this.#asking.ask('', orgNumber).then((last) => this.heard(new Map([[orgNumber, last]])), reject);
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', waiter.wake);
      leave();
    }
    // The reads of a turn can share a snapshot, which could be older.
    if (!signal.aborted) await sharedNextTurn();
  }

  heard(last: LastChanges): void {
    if (this.#waiting.size === 0) return;
    for (const [orgNumber, sequence] of last)
      for (const { after, wake } of this.#waiting.get(orgNumber) ?? []) if (after < sequence) wake();
  }

  look(): void {
    if (this.#isLooking || this.#waiting.size === 0) return;
    this.#isLooking = true;
    const waiting = [...this.#waiting].map(([orgNumber, waiters]) => ({ orgNumber, waiters: [...waiters] }));
    this.#source
      .findLast([...this.#waiting.keys()])
      .then((last) => {
        this.heard(last);
        // A database that lost its last changes gives their numbers to others.
        for (const { orgNumber, waiters } of waiting)
          for (const { after, wake } of waiters) if (after > (last.get(orgNumber) ?? 0)) wake();
      })
      // The next look asks again.
      .catch(() => undefined)
      .finally(() => {
        this.#isLooking = false;
      });
  }

  /** Wakes all that wait, and ends watching. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const waiters of this.#waiting.values()) for (const { wake } of waiters) wake();
    await this.#stop();
  }

  #enter(orgNumber: number, waiter: Waiter): () => void {
    clearTimeout(this.#linger);
    // Before the first look, so that no commit falls between the two.
    this.#endWatch ??= this.#source.watch(this);
    const waiters = this.#waiting.get(orgNumber) ?? new Set();
    this.#waiting.set(orgNumber, waiters);
    waiters.add(waiter);
    return () => {
      waiters.delete(waiter);
      if (waiters.size > 0) return;
      if (this.#waiting.get(orgNumber) === waiters) this.#waiting.delete(orgNumber);
      if (this.#waiting.size > 0 || this.#isClosed) return;
      this.#linger = setTimeout(() => this.#stop(), LINGER_MS);
      this.#linger.unref();
    };
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#linger);
    const end = this.#endWatch;
    this.#endWatch = null;
    await end?.();
  }
}
