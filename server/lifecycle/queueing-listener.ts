// Where requests wait for a server that is about to answer them, and has nothing yet to answer them from.
import type { Fetch } from './drain.ts';
import { Listener, type ListenOptions } from './listener.ts';
import { Waiting } from './request-queue.ts';

export class WaitingRoom {
  readonly listener: Listener;
  readonly #waiting: Waiting;

  /**
   * Starts to listen.
   * @param baseUrl where clients reach the service, without a trailing slash
   * @throws the system's error if the address cannot be taken, or OpenSSL's if the certificate or its key cannot be used
   */
  constructor(options: Omit<ListenOptions, 'fetch'>, baseUrl: string) {
    this.#waiting = new Waiting(baseUrl);
    this.listener = new Listener({ ...options, fetch: this.#waiting.fetch });
  }

  /** Has all that wait, and all that come from now on, answered. */
  open(fetch: Fetch): void {
    this.listener.answerWith(fetch);
    this.#waiting.open(fetch);
  }

  /** Sends away all that wait, and listens no more. */
  async close(): Promise<void> {
    this.#waiting.open(null);
    await this.listener.stop();
  }
}
