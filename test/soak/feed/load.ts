// Clients that write to everything that leaves changes, through any node: what they got responses for must be in the log.
import { type Random, randomNumbers } from '../../support/random.ts';
import { oneOf, type Write, Writes } from './writes.ts';

export interface LoadOptions {
  urls: readonly string[];
  key: string;
  /** Users who own records at times. */
  users: readonly string[];
  clients: number;
  /** Between two requests of a client, in milliseconds. */
  pauseMs: number;
  seed: number;
}

export class FeedLoad {
  /** The IDs of requests that were acknowledged and have left a change. */
  readonly acknowledged = new Set<string>();
  /** Responses that nobody should get. */
  readonly unexpected: string[] = [];
  failures = 0;
  readonly #options: LoadOptions;
  readonly #writes: Writes;
  readonly #clients: Promise<void>[];
  #isOver = false;

  /** Starts the clients. */
  constructor(options: LoadOptions) {
    this.#options = options;
    this.#writes = new Writes(`load ${options.seed}`, options.users);
    const clientOf = (_: unknown, index: number) => this.#client(randomNumbers(options.seed * 1_000 + index));
    this.#clients = Array.from({ length: options.clients }, clientOf);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
  }

  async #client(random: Random): Promise<void> {
    while (!this.#isOver) {
      const write = this.#writes.draw(random);
      if (write !== null) await this.#send(write, random);
      await Bun.sleep(this.#options.pauseMs);
    }
  }

  async #send(write: Write, random: Random): Promise<void> {
    const { method, path, body, isSure } = write;
    const { urls, key } = this.#options;
    try {
      const response = await fetch(`${oneOf(urls, random)}/api/v2${path}`, {
        ...{ method, headers: { 'X-Service-Api-Key': key } },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const { status } = response;
      if (status < 300) {
        if (isSure) this.acknowledged.add(response.headers.get('X-Request-Id') ?? '');
        this.#writes.note(write, text === '' ? null : JSON.parse(text).data);
      } else if (status >= 500 && status !== 503)
        this.unexpected.push(`${method} ${path}: ${status} ${text}`);
    } catch {
      this.failures += 1;
    }
  }
}
