// Holds requests for a server that is about to answer them but does not have the database yet.
import type { Fetch } from './drain.ts';
import { Listener, type ListenOptions } from './listener.ts';
import { RequestQueue } from './request-queue.ts';

export class QueueingListener {
  readonly listener: Listener;
  readonly #waiting: RequestQueue;

  /**
   * Starts to listen.
   * @param baseUrl the public URL of the service, without a trailing slash
   * @throws the system's error if the port is taken, or OpenSSL's if the certificate or its key cannot be used
   */
  constructor(options: Omit<ListenOptions, 'fetch'>, baseUrl: string) {
    this.#waiting = new RequestQueue(baseUrl);
    this.listener = new Listener({ ...options, fetch: this.#waiting.fetch });
  }

  /** Answers all waiting and all later requests with `fetch`. */
  open(fetch: Fetch): void {
    this.listener.answerWith(fetch);
    this.#waiting.open(fetch);
  }

  /** Rejects all waiting requests and stops listening. */
  async close(): Promise<void> {
    this.#waiting.open(null);
    await this.listener.stop();
  }
}
