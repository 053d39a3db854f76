// Clients that write of every kind under keys, one thing after another, and know the response to each.
import type { Database } from 'bun:sqlite';
import { partialWritesIn } from './side-tables.ts';

const CLIENTS = 8;
const PAUSE_MS = 100;
const RETRY_MS = 50;
const ANSWER_MS_MAX = 30_000;
const BATCH_ROWS = 5;

/** What was acknowledged by a moment; to be compared with what a copy of the database holds. */
export interface Acknowledged {
  writes: number;
  /** Batches, the ids of each. */
  batches: readonly (readonly string[])[];
  contacts: readonly string[];
  links: readonly { deal: string; contact: string }[];
  interactions: readonly string[];
  /** Contact → the number of its last update. */
  versions: ReadonlyMap<string, number>;
  deleted: readonly string[];
}

interface Answer {
  data: { id: string; items?: { data: { id: string } }[] };
  error?: { message: string };
}

export class MixedLoad {
  readonly #url: () => string;
  readonly #key: string;
  readonly #batches: string[][] = [];
  readonly #contacts: string[] = [];
  readonly #links: { deal: string; contact: string }[] = [];
  readonly #interactions: string[] = [];
  readonly #versions = new Map<string, number>();
  readonly #deleted: string[] = [];
  // Before they are asked for, so that none of them is missed.
  readonly #toDelete = new Set<string>();
  readonly #clients: Promise<void>[];
  readonly unexpected: string[] = [];
  #writes = 0;
  #next = 0;
  #isOver = false;
  /** How often a request had to be repeated, after 503 or a lost connection. */
  repeats = 0;
  /** Answers of 503 that did not say when to try again. */
  unhinted = 0;
  #slowestMs = 0;

  /** Starts the clients at an address that may change, with a key for everything there. */
  constructor(url: () => string, key: string) {
    this.#url = url;
    this.#key = key;
    this.#clients = Array.from({ length: CLIENTS }, (_, index) => this.#client(index));
  }

  /** Milliseconds that the slowest write since the last look took, from being sent to its answer. */
  takeSlowest(): number {
    const slowest = this.#slowestMs;
    this.#slowestMs = 0;
    return Math.round(slowest);
  }

  get acknowledged(): Acknowledged {
    return {
      writes: this.#writes,
      batches: [...this.#batches],
      contacts: [...this.#contacts],
      links: [...this.#links],
      interactions: [...this.#interactions],
      versions: new Map(this.#versions),
      deleted: [...this.#deleted],
    };
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
  }

  /** What of it is not in a database, or only in part. */
  missingIn(db: Database, acknowledged: Acknowledged): string[] {
    const column = (query: string) =>
      db
        .query(query)
        .values()
        .map(([value]) => String(value));
    const contacts = new Set(column('SELECT id FROM contacts'));
    const interactions = new Set(column('SELECT id FROM interactions'));
    const links = new Set(column("SELECT deal_id || ' ' || contact_id FROM deal_contacts"));
    const versions = new Map(
      db
        .query<{ id: string; n: number }, []>(
          'SELECT id, CAST(title AS INTEGER) AS n FROM contacts WHERE title IS NOT NULL',
        )
        .all()
        .map(({ id, n }) => [id, n]),
    );
    const isThere = (id: string) => contacts.has(id) || this.#toDelete.has(id);
    const halves = this.#batches.filter((ids) => new Set(ids.map(isThere)).size > 1);
    return [
      ...acknowledged.contacts.filter((id) => !isThere(id)).map((id) => `contact ${id} is missing`),
      ...acknowledged.batches
        .flat()
        .filter((id) => !isThere(id))
        .map((id) => `item ${id} is missing`),
      ...halves.map((ids) => `half of a batch: ${ids.join()}`),
      ...acknowledged.links
        .filter(({ deal, contact }) => !links.has(`${deal} ${contact}`) && !this.#toDelete.has(contact))
        .map(({ deal }) => `a link of deal ${deal} is missing`),
      ...acknowledged.interactions
        .filter((id) => !interactions.has(id))
        .map((id) => `interaction ${id} is missing`),
      ...[...acknowledged.versions]
        .filter(([id, n]) => !this.#toDelete.has(id) && (versions.get(id) ?? -1) < n)
        .map(([id, n]) => `update ${n} of ${id} is missing`),
      ...acknowledged.deleted.filter((id) => contacts.has(id)).map((id) => `${id} is there again`),
      ...partialWritesIn(db),
    ];
  }

  async #client(index: number): Promise<void> {
    const mine: string[] = [];
    while (!this.#isOver) {
      await this.#turn(index, mine);
      await Bun.sleep(PAUSE_MS);
    }
  }

  // Each client has records of its own, so that it knows the last of what it did to them.
  async #turn(index: number, mine: string[]): Promise<void> {
    const name = `${index}-${this.#next++}`;
    const id = await this.#create('/contacts', { first_name: name, email: `${name}@example.com` }, name);
    this.#contacts.push(id);
    mine.push(id);
    const items = Array.from({ length: BATCH_ROWS }, (_, item) => ({
      first_name: name,
      email: `${name}-${item}@example.com`,
    }));
    this.#batches.push((await this.#write('POST', '/contacts/batch', items, `${name}-b`)).ids);
    const deal = await this.#create('/deals', { name }, `${name}-d`);
    await this.#write('POST', `/deals/${deal}/contacts`, { contact_id: id }, `${name}-l`);
    this.#links.push({ deal, contact: id });
    const interaction = {
      type: 'EMAIL',
      direction: 'INBOUND',
      title: name,
      main_contact_email: `${name}-i@example.com`,
    };
    this.#interactions.push(await this.#create('/interactions', interaction, `${name}-i`));
    const other = mine[Math.floor(Math.random() * mine.length)] ?? id;
    const version = (this.#versions.get(other) ?? 0) + 1;
    await this.#write('PATCH', `/contacts/${other}`, { title: String(version) }, `${name}-u`);
    this.#versions.set(other, version);
    if (mine.length < CLIENTS) return;
    const oldest = mine.shift() ?? id;
    this.#toDelete.add(oldest);
    await this.#write('DELETE', `/contacts/${oldest}`, undefined, `${name}-x`);
    this.#deleted.push(oldest);
  }

  async #create(path: string, body: object, once: string): Promise<string> {
    return (await this.#write('POST', path, body, once)).ids[0] ?? '';
  }

  async #write(
    method: string,
    path: string,
    body: object | undefined,
    once: string,
  ): Promise<{ ids: string[] }> {
    for (;;) {
      const begunAt = performance.now();
      const answer = await this.#send(method, path, body, once).catch(() => null);
      if (answer !== null) {
        this.#slowestMs = Math.max(this.#slowestMs, performance.now() - begunAt);
        this.#writes += 1;
        return answer;
      }
      this.repeats += 1;
      await Bun.sleep(RETRY_MS);
    }
  }

  async #send(
    method: string,
    path: string,
    body: object | undefined,
    once: string,
  ): Promise<{ ids: string[] } | null> {
    const response = await fetch(`${this.#url()}/api/v2${path}`, {
      method,
      headers: { 'X-Service-Api-Key': this.#key, ...(method !== 'DELETE' && { 'Idempotency-Key': once }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    const text = await response.text();
    // One that was carried out already, and not answered.
    if (method === 'DELETE' && [204, 404].includes(response.status)) return { ids: [] };
    if (response.status === 503) {
      if (!response.headers.has('Retry-After')) this.unhinted += 1;
      return null;
    }
    if (!response.ok) {
      this.unexpected.push(`${method} ${path}: ${response.status} ${text.slice(0, 200)}`);
      return null;
    }
    const { data } = JSON.parse(text) as Answer;
    return { ids: data.items === undefined ? [data.id] : data.items.map((item) => item.data.id) };
  }
}
