// A service under load that two consumers follow: one waits for changes, one with a key of a user polls.
import { httpClient } from '../../support/http-client.ts';
import type { Json } from '../../support/json.ts';
import { type Node, runOnce } from '../service.ts';
import { Consumer } from './consumer.ts';
import { FeedLoad } from './load.ts';

const ORG = 'Followed';
const USERS = ['ada@followed.example', 'bob@followed.example'];

export interface FollowedFigures {
  /** Writes whose change was looked for in the log. */
  acknowledged: number;
  /** Changes that the consumer with a key for everything has read. */
  changes: number;
  /** How often each of the consumers had to copy everything. */
  copies: number[];
  /** Requests of clients and consumers that got no response. */
  failures: number;
  faults: string[];
}

const WAIT_SECONDS = 2;

/** How much is written. */
export interface Amount {
  clients: number;
  pauseMs: number;
}

export class Followed {
  readonly #urls: readonly string[];
  readonly #key: string;
  readonly #users: readonly string[];
  readonly #consumers: Consumer[];
  readonly #faults: string[] = [];
  #acknowledged = 0;
  #failures = 0;
  #loads = 0;

  private constructor(urls: readonly string[], keys: [string, string], users: readonly string[]) {
    this.#urls = urls;
    this.#key = keys[0];
    this.#users = users;
    // They ask the last node, while clients write to all.
    const url = urls.at(-1) ?? '';
    this.#consumers = keys.map((key, index) =>
      index > 0
        ? new Consumer(httpClient(url, key), true)
        : new Consumer(httpClient(url, key), false, WAIT_SECONDS),
    );
  }

  /** Creates an organization with two users in an empty database, which the nodes are to serve. */
  static async prepare(db: string, nodes: readonly Node[]): Promise<Followed> {
    const key = await runOnce(['init', '--org', ORG, '--db', db]);
    const users: string[] = [];
    for (const email of USERS)
      users.push(JSON.parse(await runOnce(['users', 'create', email, '--db', db, '-o', 'json'])).id);
    const access = ['--access', 'user', '--user', USERS[0] ?? '', '--all-scopes'];
    const userKey = await runOnce(['keys', 'issue', ...access, '--db', db]);
    return new Followed(
      nodes.map(({ url }) => url),
      [key, userKey],
      users,
    );
  }

  /** Starts the consumers, once there is a server. */
  async start(): Promise<void> {
    for (const consumer of this.#consumers) await consumer.start();
  }

  /** Writes while something happens, and looks for each acknowledged write in the log. */
  async load(amount: Amount, during: () => Promise<unknown>): Promise<void> {
    this.#loads += 1;
    const { length: before } = (await this.#readLog()).requests;
    const load = new FeedLoad({
      ...{ urls: this.#urls, key: this.#key, users: this.#users, seed: this.#loads },
      ...amount,
    });
    try {
      await during();
    } finally {
      await load.end();
    }
    const { requests, gaps } = await this.#readLog();
    const logged = new Set(requests);
    const missing = [...load.acknowledged].filter((id) => !logged.has(id));
    this.#faults.push(...load.unexpected, ...gaps, ...missing.map((id) => `no change was left by ${id}`));
    if (requests.length <= before) this.#faults.push('nothing was written');
    this.#acknowledged += load.acknowledged.size;
    this.#failures += load.failures;
  }

  /** Ends the consumers once they have read everything. @throws if a copy is not exact */
  async end(): Promise<FollowedFigures> {
    for (const consumer of this.#consumers) await consumer.end();
    const failures = this.#consumers.reduce((sum, one) => sum + one.failures, this.#failures);
    return {
      ...{ acknowledged: this.#acknowledged, failures, faults: this.#faults },
      changes: this.#consumers[0]?.changes ?? 0,
      copies: this.#consumers.map(({ copies }) => copies),
    };
  }

  // The request of each change, and sequence numbers that do not follow the one before.
  async #readLog(): Promise<{ requests: (string | null)[]; gaps: string[] }> {
    const changes: Json[] = [];
    for (let cursor = '', isMore = true; isMore; ) {
      const response = await fetch(`${this.#urls.at(-1)}/api/v2/changes?limit=200${cursor}`, {
        headers: { 'X-Service-Api-Key': this.#key },
      });
      const { data, page_info }: Json = await response.json();
      changes.push(...data);
      cursor = `&cursor=${page_info.end_cursor}`;
      isMore = page_info.has_next_page;
    }
    const gaps = changes.flatMap(({ sequence }, index) =>
      sequence === index + 1 ? [] : [`change ${sequence} is at place ${index + 1}`],
    );
    return { requests: changes.map(({ request_id }) => request_id), gaps };
  }
}
