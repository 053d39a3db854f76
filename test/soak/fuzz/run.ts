// Draws requests by a seed, sends them over some connections, and keeps what was wrong with the answers.
import fc from 'fast-check';
import { describedOperations } from '../../../server/interface.ts';
import type { Json } from '../../support/json.ts';
import { drawFrom } from './bodies.ts';
import { type Broken, brokenRequests, HIDDEN } from './broken.ts';
import { faultOf } from './judge.ts';
import { bytesOfRequest, type FuzzedRequest, type Keys, requestOf } from './requests.ts';
import { type Answer, Wire } from './wire.ts';

const CONNECTIONS = 24;
const CHUNK = 480;
const KNOWN_MAX = 400;
const TELL_EVERY_CHUNKS = 25;
const FAULT_CHARACTERS = 700;
const FILL_EVERY_CHUNKS = 2;
const FILLED = 20;
const LEAST: Record<string, Json> = {
  ...{
    contacts: { first_name: 'A' },
    companies: { name: 'A' },
    deals: { name: 'A' },
    pipelines: { name: 'A' },
  },
  ...{ tasks: { name: 'A' }, notes: { title: 'A' }, segments: { name: 'A' } },
};
/** What an HTTP parser answers to a version that it does not know, before a request is one. */
export const OTHER_VERSION = 505;
const OUR_VERSION = /^[!-~]+ [!-~]+ HTTP\/1\.[01]\r\n/;

/** One of the two kinds: good HTTP with anything in it, or bytes that are none. */
type Drawn = FuzzedRequest | Broken;

export class Fuzzing {
  sent = 0;
  /** Cut off on purpose, or closed by the server without an answer where that may be. */
  unanswered = 0;
  readonly statuses = new Map<number, number>();
  readonly faults: string[] = [];
  readonly #url: string;
  readonly #keys: Keys;
  readonly #seed: number;
  readonly #known: string[] = ['absent', 'user@fuzz.test', 'fuzz.test', ''];
  readonly #knownOf = new Map<string, string[]>();

  constructor(url: string, keys: Keys, seed: number, userId: string) {
    this.#note('users', userId);
    this.#url = url;
    this.#keys = keys;
    this.#seed = seed;
  }

  /** Sends that many, and looks at the end whether any was carried out that was hidden in another. */
  async run(requests: number): Promise<void> {
    const operations = describedOperations();
    const drawn: fc.Arbitrary<Drawn> = fc.oneof(
      { weight: 9, arbitrary: requestOf(operations, this.#keys) as fc.Arbitrary<Drawn> },
      { weight: 1, arbitrary: brokenRequests(this.#keys.v2) as fc.Arbitrary<Drawn> },
    );
    const wires = Array.from({ length: CONNECTIONS }, () => new Wire(Number(new URL(this.#url).port)));
    await this.#learnWhatIsThere();
    for (let chunk = 0; this.sent < requests; chunk++) {
      if (chunk % FILL_EVERY_CHUNKS === 0) await this.#fill();
      drawFrom(this.#known, this.#knownOf);
      const list = fc.sample(drawn, {
        seed: this.#seed + chunk,
        numRuns: Math.min(CHUNK, requests - this.sent),
      });
      let next = 0;
      const client = async (wire: Wire) => {
        for (let one = list[next++]; one !== undefined; one = list[next++])
          await this.#send(wire, one, chunk);
      };
      await Promise.all(wires.map(client));
      if ((chunk + 1) % TELL_EVERY_CHUNKS === 0)
        console.log(`     ${this.sent} sent, ${this.faults.length} faults`);
    }
    for (const wire of wires) wire.close();
    await this.#lookForHidden();
  }

  async #send(wire: Wire, one: Drawn, chunk: number): Promise<void> {
    this.sent += 1;
    const fault = 'bytes' in one ? await this.#break(wire, one) : await this.#ask(wire, one);
    if (fault === '') return;
    const bytes = 'bytes' in one ? one.bytes : bytesOfRequest(one);
    const text = JSON.stringify(Buffer.from(bytes).toString('latin1')).replaceAll(this.#keys.v2, 'KEY');
    this.faults.push(
      `seed ${this.#seed + chunk}: ${fault}`.slice(0, FAULT_CHARACTERS),
      text.slice(0, FAULT_CHARACTERS),
    );
  }

  async #ask(wire: Wire, request: FuzzedRequest): Promise<string> {
    const { answers, fault } = await wire.exchange(bytesOfRequest(request), [request.method]);
    const answer = answers[0];
    if (answer === undefined) return fault || 'closed without an answer';
    this.#count(answer);
    this.#learn(request, answer);
    return fault || faultOf(request, answer);
  }

  async #break(wire: Wire, { name, bytes, requests, abandonAfter }: Broken): Promise<string> {
    const { answers, fault } = await wire.abandon(bytes, abandonAfter ?? 0);
    for (const answer of answers) this.#count(answer);
    if (answers.length === 0) this.unanswered += 1;
    const isOurs = OUR_VERSION.test(Buffer.from(bytes).toString('latin1'));
    const five = answers.find(({ status }) => status >= 500 && (isOurs || status !== OTHER_VERSION));
    if (five !== undefined) return `${name}: ${five.status} ${five.body}`;
    if (answers.length > requests) return `${name}: ${answers.length} answers to ${requests} requests`;
    return fault === '' ? '' : `${name}: ${fault}`;
  }

  #count({ status }: Answer): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }

  // What is made by one request stands in the paths and bodies of others.
  #learn({ target }: FuzzedRequest, { status, body }: Answer): void {
    if (status === 201) this.#note(resourceOf(target), JSON.parse(body).data.id);
  }

  #note(resource: string, id: string): void {
    const list = this.#knownOf.get(resource) ?? [];
    list.push(id);
    this.#knownOf.set(resource, list);
    if (this.#known.length < KNOWN_MAX) this.#known.push(id);
    else this.#known[Math.floor(Math.random() * KNOWN_MAX)] = id;
  }

  // What is there before anything was made.
  async #learnWhatIsThere(): Promise<void> {
    const headers = { 'X-Service-Api-Key': this.#keys.v2 };
    for (const resource of ['pipelines', 'meetings', 'recordings', 'bookings']) {
      const { data }: Json = await (await fetch(`${this.#url}/api/v2/${resource}`, { headers })).json();
      for (const { id, stages = [] } of data) {
        this.#note(resource, id);
        this.#known.push(...stages.map((stage: Json) => stage.id));
      }
    }
  }

  // Enough of everything, since much of it is deleted.
  async #fill(): Promise<void> {
    for (const [resource, body] of Object.entries(LEAST)) {
      const response = await fetch(`${this.#url}/api/v2/${resource}/batch`, {
        method: 'POST',
        headers: { 'X-Service-Api-Key': this.#keys.v2 },
        body: JSON.stringify(Array(FILLED).fill(body)),
      });
      const { data }: Json = await response.json();
      for (const item of data.items) this.#note(resource, item.data.id);
    }
  }

  async #lookForHidden(): Promise<void> {
    const headers = { 'X-Service-Api-Key': this.#keys.v2 };
    for (let cursor = ''; ; ) {
      const response = await fetch(`${this.#url}/api/v2/contacts?limit=200${cursor}`, { headers });
      const { data, page_info }: Json = await response.json();
      if (data.some((one: Json) => one.first_name === HIDDEN))
        this.faults.push('a hidden request was carried out');
      if (!page_info.has_next_page) return;
      cursor = `&cursor=${encodeURIComponent(page_info.end_cursor)}`;
    }
  }
}

function resourceOf(target: string): string {
  const [name = ''] = target.split('/').slice(3);
  const resource = name.split('?')[0] ?? '';
  return resource === 'people' ? 'contacts' : resource;
}
