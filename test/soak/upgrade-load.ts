// Clients of every kind that repeat nothing, on a server that is replaced under them: whatever fails is counted.
import { Database } from 'bun:sqlite';
import { type Answer, type Asked, HttpConnection } from '../support/http-connection.ts';

const CONTACTS = '/api/v2/contacts';
const BATCH_ROWS = 100;

interface Client {
  /** What it does, in words. */
  name: string;
  /** Whether each request has a connection of its own. */
  isFresh?: boolean;
  /** Between an answer and the next request, at most. */
  pauseMs: number;
  /** The next request, and the names of the contacts that it makes. */
  next(number: number): Asked & { makes?: readonly string[] };
}

export interface UpgradeLedger {
  requests: Record<string, number>;
  /** The error that a client got instead of a response, or the response that it should not have had. */
  failures: string[];
  acknowledged: number;
  /** Contacts that were acknowledged and are not there, are there more than once, or are there although no client was answered. */
  lost: number;
  doubled: number;
  unasked: number;
  longestMs: number;
}

export class UpgradeLoad {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #requests: Record<string, number> = {};
  readonly #failures: string[] = [];
  readonly #acknowledged = new Set<string>();
  readonly #clients: Promise<void>[];
  #next = 0;
  #longestMs = 0;
  #isOver = false;

  /** Starts the clients. */
  constructor(url: string, key: string) {
    this.#url = url;
    this.#headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    this.#clients = CLIENTS.map((client, index) => this.#run(client, index));
  }

  get acknowledged(): number {
    return this.#acknowledged.size;
  }

  get failures(): readonly string[] {
    return this.#failures;
  }

  /** Has the clients end once they are answered, and looks at what is in the file. */
  async end(db: string): Promise<UpgradeLedger> {
    this.#isOver = true;
    await Promise.all(this.#clients);
    using file = new Database(db, { readonly: true });
    const rows = file.query<{ first_name: string }, []>('select first_name from contacts').all();
    const found = Map.groupBy(rows, ({ first_name }) => first_name);
    const acknowledged = [...this.#acknowledged];
    return {
      ...{ requests: this.#requests, failures: this.#failures, longestMs: this.#longestMs },
      acknowledged: acknowledged.length,
      lost: acknowledged.filter((name) => !found.has(name)).length,
      doubled: [...found.values()].filter((same) => same.length > 1).length,
      unasked: [...found.keys()].filter((name) => !this.#acknowledged.has(name)).length,
    };
  }

  async #run(client: Client, index: number): Promise<void> {
    let connection: HttpConnection | null = null;
    while (!this.#isOver) {
      const { makes = [], ...asked } = client.next(this.#next++);
      const begun = performance.now();
      this.#requests[client.name] = (this.#requests[client.name] ?? 0) + 1;
      try {
        connection ??= await HttpConnection.open(this.#url);
        const headers = { ...this.#headers, ...asked.headers };
        const answer: Answer = await connection.ask({ ...asked, headers });
        if (answer.status >= 300) throw new Error(`${answer.status} ${answer.body.slice(0, 200)}`);
        for (const name of makes) this.#acknowledged.add(name);
        if (answer.isLast || client.isFresh) {
          connection.close();
          connection = null;
        }
      } catch (error) {
        this.#failures.push(`${client.name} ${index}, ${new Date().toISOString()}: ${error}`);
        connection?.close();
        connection = null;
      }
      this.#longestMs = Math.max(this.#longestMs, performance.now() - begun - (asked.bodyMs ?? 0));
      await Bun.sleep(Math.random() * client.pauseMs);
      // As every client does that has been told of the end meanwhile.
      if (connection?.isClosed) connection = null;
    }
    connection?.close();
  }
}

function creates(number: number): Asked & { makes: readonly string[] } {
  const name = `one-${number}`;
  return { method: 'POST', path: CONTACTS, body: JSON.stringify({ first_name: name }), makes: [name] };
}

function createsMany(number: number): Asked & { makes: readonly string[] } {
  const makes = Array.from({ length: BATCH_ROWS }, (_, row) => `batch-${number}-${row}`);
  const body = JSON.stringify(makes.map((first_name) => ({ first_name })));
  return { method: 'POST', path: `${CONTACTS}/batch`, body, makes };
}

const keyed = (number: number) => ({
  ...creates(number),
  headers: { 'Idempotency-Key': `key-${number}` },
});
const reads = () => ({ method: 'GET', path: `${CONTACTS}?limit=20` });

const KINDS: readonly Client[] = [
  { name: 'create', pauseMs: 4, next: creates },
  { name: 'create', pauseMs: 4, next: creates },
  { name: 'create, each on a new connection', pauseMs: 10, isFresh: true, next: creates },
  { name: 'create, each on a new connection', pauseMs: 10, isFresh: true, next: creates },
  { name: 'create under a key', pauseMs: 10, next: keyed },
  { name: 'list', pauseMs: 10, next: reads },
  { name: 'list, each on a new connection', pauseMs: 10, isFresh: true, next: reads },
  { name: 'batch of 100', pauseMs: 200, next: createsMany },
  {
    name: 'create, its body sent over 0.6 s',
    pauseMs: 50,
    next: (number) => ({ ...creates(number), bodyMs: 600 }),
  },
];
// Those who keep a connection and seldom use it are found idle when it is closed.
const SELDOM: readonly Client[] = [100, 500, 1_000, 3_000].flatMap((pauseMs) =>
  Array.from({ length: 4 }, () => ({ name: 'create now and then', pauseMs, next: creates })),
);
const CLIENTS: readonly Client[] = [...KINDS, ...SELDOM];
