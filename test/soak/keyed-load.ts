// Clients that create under keys and repeat until they are answered, at any node: a ledger of the responses.
const CLIENTS = 12;
const PAUSE_MS = 20;
// Below what a client waits for, so that a node that hangs is given up.
const ANSWER_MS_MAX = 12_000;
// Every so many are sent twice at once, and every so many are a batch of three.
const COPIES_EVERY = 4;
const BATCH_EVERY = 10;
const BATCH_ROWS = 3;

/** Where to send requests, and a key for everything there. */
export interface Served {
  nodes: readonly { url: string }[];
  key: string;
}

/** What a load is put on: nodes of one database, and a key for everything in it. */
export interface Loaded {
  nodes: readonly { url: string }[];
  key: string;
}

/** What became of a load. */
export interface Ledger {
  acknowledged: number;
  /** Requests that had to be repeated, and answers that were those of an earlier request. */
  repeated: number;
  replayed: number;
  /** Keys with fewer records than were acknowledged, or more than were asked for. */
  lost: number;
  doubled: number;
  /** Answers that nobody should get. */
  unexpected: string[];
  longestMs: number;
}

export class KeyedLoad {
  readonly #service: Served;
  /** Key → what was acknowledged: the ids of its contacts. */
  readonly #acknowledged = new Map<string, string>();
  readonly #unexpected: string[] = [];
  #next = 0;
  #repeated = 0;
  #replayed = 0;
  #longestMs = 0;
  #isOver = false;
  readonly #clients: Promise<void>[];

  /** Starts the clients. */
  constructor(service: Served) {
    this.#service = service;
    this.#clients = Array.from({ length: CLIENTS }, () => this.#client());
  }

  get acknowledged(): number {
    return this.#acknowledged.size;
  }

  /** Has the clients end once they have all been answered, and looks at what is there. */
  async end(sql: (text: string) => Promise<Record<string, unknown>[]>): Promise<Ledger> {
    this.#isOver = true;
    await Promise.all(this.#clients);
    const rows = await sql('select first_name, id from contacts');
    const found = Map.groupBy(rows, ({ first_name }) => String(first_name));
    let [lost, doubled] = [0, 0];
    for (const [key, ids] of this.#acknowledged) {
      const there = (found.get(key) ?? []).map(({ id }) => String(id));
      if (ids.split(' ').some((id) => !there.includes(id))) lost += 1;
      if (there.length > rowsOf(key)) doubled += 1;
    }
    return {
      ...{ lost, doubled, acknowledged: this.acknowledged, unexpected: this.#unexpected },
      ...{ repeated: this.#repeated, replayed: this.#replayed, longestMs: this.#longestMs },
    };
  }

  async #client(): Promise<void> {
    while (!this.#isOver) {
      const index = this.#next++;
      const key = `${index % BATCH_EVERY === 0 ? 'batch' : 'one'}-${index}`;
      const begun = performance.now();
      const copies = index % COPIES_EVERY === 0 ? 2 : 1;
      const told = await Promise.all(Array.from({ length: copies }, () => this.#untilAnswered(key)));
      if (new Set(told).size > 1) this.#unexpected.push(`${key}: two answers`);
      this.#acknowledged.set(key, told[0] ?? '');
      this.#longestMs = Math.max(this.#longestMs, performance.now() - begun);
    }
  }

  // The ids that were made.
  async #untilAnswered(key: string): Promise<string> {
    for (;;) {
      const ids = await this.#send(key).catch(() => null);
      if (ids !== null) return ids;
      this.#repeated += 1;
      await Bun.sleep(PAUSE_MS);
    }
  }

  async #send(key: string): Promise<string | null> {
    const { nodes, key: apiKey } = this.#service;
    const node = nodes[Math.floor(Math.random() * nodes.length)];
    const isBatch = rowsOf(key) > 1;
    const contact = { first_name: key };
    const response = await fetch(`${node?.url}/api/v2/contacts${isBatch ? '/batch' : ''}`, {
      method: 'POST',
      headers: { 'X-Service-Api-Key': apiKey, 'Idempotency-Key': key },
      body: JSON.stringify(isBatch ? Array(BATCH_ROWS).fill(contact) : contact),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    const { data, error } = (await response.json()) as Answer;
    if (response.status === 503) return null;
    if (!response.ok) {
      this.#unexpected.push(`${key}: ${response.status} ${error?.message}`);
      return null;
    }
    if (response.headers.has('Idempotent-Replayed')) this.#replayed += 1;
    return data.items === undefined ? data.id : data.items.map((item) => item.data.id).join(' ');
  }
}

interface Answer {
  data: { id: string; items?: { data: { id: string } }[] };
  error?: { message: string };
}

function rowsOf(key: string): number {
  return key.startsWith('batch') ? BATCH_ROWS : 1;
}
