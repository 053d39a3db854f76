// Clients that write until their server is gone, each changing its own records, and repeat afterwards what was keyed.
import type { Json } from '../../support/json.ts';
import { type Random, randomNumbers } from '../../support/random.ts';
import type { Entry, KeyedRequest, Ledger } from './ledger.ts';
import { ABSENT } from './state.ts';

const CLIENTS = 16;
const BATCH_ITEMS = 10;
// What is drawn from: a create, one under a key, and so on, of 100; the rest are changes of pipelines.
const [CREATES, KEYED, BATCHES, UPDATES, LINKS, DELETES] = [25, 50, 58, 74, 84, 95];

export interface Target {
  url: string;
  key: string;
}

interface Sent {
  status: number;
  headers: Headers;
  text: string;
}

const sendTo =
  ({ url, key }: Target) =>
  async (method: string, path: string, body?: string, once?: string): Promise<Sent> => {
    const headers = { 'X-Service-Api-Key': key, ...(once !== undefined && { 'Idempotency-Key': once }) };
    const response = await fetch(`${url}/api/v2${path}`, { method, headers, ...(body && { body }) });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

/** What clients do in one cycle, from the start of a server until it is gone. */
export class Writers {
  readonly #ledger: Ledger;
  readonly #send: ReturnType<typeof sendTo>;
  readonly #cycle: number;
  readonly #linked = new Set<Entry>();
  #next = 0;
  #answers = 0;
  #onAnswers: { count: number; resolve: () => void } | null = null;

  constructor(ledger: Ledger, target: Target, cycle: number) {
    this.#ledger = ledger;
    this.#send = sendTo(target);
    this.#cycle = cycle;
  }

  /** Writes until no answer comes; what each client does follows from the number of the cycle. */
  async write(): Promise<void> {
    const clientOf = (_: unknown, index: number) =>
      this.#client(randomNumbers(this.#cycle * CLIENTS + index));
    await Promise.all(Array.from({ length: CLIENTS }, clientOf));
  }

  /** Resolves once so many writes were acknowledged. */
  acknowledged(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#onAnswers = { count, resolve };
    });
  }

  async #client(random: Random): Promise<void> {
    const own: Entry[] = [];
    let pipeline: Entry | undefined;
    let deal: string | undefined;
    try {
      for (;;) {
        const draw = random() * 100;
        const entry = own.at(-1);
        if (draw < CREATES || entry === undefined) own.push(await this.#create());
        else if (draw < KEYED) own.push(...(await this.#keyed(1)));
        else if (draw < BATCHES) own.push(...(await this.#keyed(BATCH_ITEMS)));
        else if (draw < UPDATES) await this.#update(entry);
        else if (draw < LINKS) deal = await this.#link(entry, deal);
        else if (draw < DELETES) await this.#delete(own.pop() ?? entry);
        else pipeline = await this.#pipeline(pipeline);
      }
    } catch (error) {
      if (error instanceof WrongAnswer) this.#ledger.note(error.message);
    }
  }

  #entry(resource: Entry['resource']): Entry {
    const label = `${resource} ${this.#cycle}-${this.#next++}`;
    return this.#ledger.add({ resource, label, id: null, may: [ABSENT] });
  }

  async #create(): Promise<Entry> {
    const entry = this.#entry('contacts');
    this.#ledger.begin(entry, 'new');
    const sent = await this.#must('POST', '/contacts', 201, bodyOf(entry));
    this.#leaves('created contacts', sent);
    this.#ledger.settle(entry, 'new', idsIn(sent.text)[0]);
    return entry;
  }

  async #keyed(count: number): Promise<Entry[]> {
    const entries = Array.from({ length: count }, () => this.#entry('contacts'));
    for (const entry of entries) this.#ledger.begin(entry, 'new');
    const isBatch = count > 1;
    const request: KeyedRequest = {
      ...{ key: crypto.randomUUID(), path: isBatch ? '/contacts/batch' : '/contacts', entries, answer: null },
      body: isBatch ? `[${entries.map(bodyOf)}]` : bodyOf(entries[0] as Entry),
    };
    this.#ledger.keyed.push(request);
    await this.#repeat(request);
    return entries;
  }

  async #repeat(request: KeyedRequest): Promise<Sent> {
    const { key, path, body, entries } = request;
    const sent = await this.#must('POST', path, entries.length > 1 ? 200 : 201, body, key);
    this.#leaves('created contacts', sent);
    const ids = idsIn(sent.text);
    for (const [index, entry] of entries.entries()) this.#ledger.settle(entry, 'new', ids[index]);
    request.answer = sent.text;
    return sent;
  }

  async #update(entry: Entry): Promise<void> {
    const title = `title ${this.#next++}`;
    this.#ledger.begin(entry, title);
    const sent = await this.#must('PATCH', `/contacts/${entry.id}`, 200, JSON.stringify({ title }));
    this.#leaves('updated contacts', sent);
    this.#ledger.settle(entry, title);
  }

  async #delete(entry: Entry): Promise<void> {
    this.#ledger.begin(entry, ABSENT);
    const sent = await this.#must('DELETE', `/contacts/${entry.id}`, 204);
    this.#leaves('deleted contacts', sent, [entry.id ?? '']);
    this.#ledger.settle(entry, ABSENT);
  }

  // To a deal of the client's own, which is created first. Of the deletes that follow, some remove links too.
  async #link(entry: Entry, deal: string | undefined): Promise<string> {
    if (deal === undefined) {
      const sent = await this.#must('POST', '/deals', 201, JSON.stringify({ name: `deal ${this.#next++}` }));
      this.#leaves('created deals', sent);
      return idsIn(sent.text)[0] ?? '';
    }
    if (this.#linked.has(entry)) return deal;
    this.#linked.add(entry);
    const body = JSON.stringify({ contact_id: entry.id });
    this.#leaves('linked deals', await this.#must('POST', `/deals/${deal}/contacts`, 200, body), [deal]);
    return deal;
  }

  // All stages but one go, and others come.
  async #pipeline(entry = this.#entry('pipelines')): Promise<Entry> {
    const names = Array.from({ length: 1 + (this.#next % 5) }, () => `S${this.#next++}`);
    const stages = names.map((name) => ({ name }));
    this.#ledger.begin(entry, names.join());
    const [method, path, status] =
      entry.id === null
        ? (['POST', '/pipelines', 201] as const)
        : (['PATCH', `/pipelines/${entry.id}`, 200] as const);
    const sent = await this.#must(method, path, status, JSON.stringify({ name: entry.label, stages }));
    this.#leaves(`${entry.id === null ? 'created' : 'updated'} pipelines`, sent);
    this.#ledger.settle(entry, names.join(), idsIn(sent.text)[0]);
    return entry;
  }

  /**
   * Sends keyed requests again, some of which were answered: what was is answered so again, what was there already is not
   * made again.
   */
  async repeatKeyed(requests: readonly KeyedRequest[]): Promise<number> {
    let replayed = 0;
    for (const request of requests) {
      const { entries, answer } = request;
      const there = entries.filter(({ may }) => may[0] !== ABSENT).length;
      // What came of a change since, or of a delete, is not what the request made.
      const states = entries.map(({ may }) => may);
      const isNew = answer === null && there === 0;
      if (answer === null && there % entries.length !== 0)
        this.#ledger.note(`${entries[0]?.label}: ${there} of a batch of ${entries.length}`);
      const again = await this.#repeat(request);
      const isReplay = again.headers.has('Idempotent-Replayed');
      if (isReplay === isNew) this.#ledger.note(`${entries[0]?.label}: ${isReplay ? '' : 'no '}replay`);
      if (answer !== null && again.text !== answer) this.#ledger.note(`${entries[0]?.label}: another answer`);
      if (!isNew) for (const [index, entry] of entries.entries()) entry.may = states[index] ?? [];
      if (isReplay) replayed += 1;
    }
    return replayed;
  }

  async #must(method: string, path: string, status: number, body?: string, once?: string): Promise<Sent> {
    const sent = await this.#send(method, path, body, once);
    if (sent.status !== status)
      throw new WrongAnswer(`${method} ${path}: ${sent.status} ${sent.text.slice(0, 200)}`);
    this.#answers += 1;
    if (this.#answers === this.#onAnswers?.count) this.#onAnswers.resolve();
    return sent;
  }

  // The change that was left by the request that was acknowledged.
  #leaves(kind: string, { headers, text }: Sent, records = idsIn(text)): void {
    if (headers.has('Idempotent-Replayed')) return;
    this.#ledger.changes.expect(headers.get('X-Request-Id') ?? '', kind, records);
  }
}

class WrongAnswer extends Error {}

function bodyOf({ label }: Entry): string {
  return JSON.stringify({ first_name: label, title: 'new', custom: { of: label } });
}

function idsIn(text: string): string[] {
  const { data }: Json = JSON.parse(text);
  return data.items === undefined ? [data.id] : data.items.map((item: Json) => item.data.id);
}
