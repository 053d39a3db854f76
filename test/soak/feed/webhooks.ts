// A receiver of webhooks that fails, is slow and is killed: it gets each change at least once, and those of a record in order.
import { Webhook } from 'standardwebhooks';
import type { Json } from '../../support/json.ts';
import { freePort } from '../../support/ports.ts';
import { NO_LIMITS, Node, runOnce } from '../service.ts';
import { FeedLoad } from './load.ts';

const HOST = '127.0.0.1';
// Of the changes, every so many fail at first, and every so many are slow.
const FAILS_EVERY = 5;
const SLOW_EVERY = 7;
const SLOW_MS = 150;
const DOWN_MS = 500;
const UNDER_WAY_MAX = 8;
// Down for longer, as a busy machine has it, a receiver misses the second attempt too: the third comes five minutes later.
const SHORT_DOWN_MS = 4_000;
const THIRD_ATTEMPT_MS = 400_000;

export interface WebhookExtent {
  /** How long is written in each round, in milliseconds. */
  writeMs: number;
  /** In how many rounds, after the first, the receiver is killed. */
  kills: number;
  /** How long nothing may arrive before the trial gives up, in milliseconds. */
  patienceMs: number;
}

export interface WebhookFigures {
  /** Changes that were to be delivered. */
  changes: number;
  /** Requests that the receiver got, and those that it did not take. */
  requests: number;
  refused: number;
  faults: string[];
}

/** Sends the changes of an empty database to a receiver while clients write. */
export async function sendToFailingReceiver(db: string, extent: WebhookExtent): Promise<WebhookFigures> {
  const { writeMs, kills, patienceMs } = extent;
  const key = await runOnce(['init', '--org', 'Webhooks', '--db', db]);
  const node = await Node.start(db, [...NO_LIMITS, '--webhooks-allow', `${HOST}/32`]);
  const receiver = new FailingReceiver(await freePort());
  const ask = async (method: string, path: string, body?: Json): Promise<Json> => {
    const headers = { 'X-Service-Api-Key': key };
    const response = await fetch(`${node.url}/api/v2${path}`, {
      ...{ method, headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return response.json();
  };
  try {
    const { page_info: before } = await ask('GET', '/changes?start=now');
    const { data } = await ask('POST', '/webhooks', { url: receiver.url, events: ['*'] });
    receiver.listen(data.secret);
    const unexpected: string[] = [];
    let head = before.head;
    // At first it fails and is slow. Later it is killed, once each time: what fails twice comes again after minutes only.
    for (let round = 0; round <= kills; round++) {
      const load = new FeedLoad({ urls: [node.url], key, users: [], clients: 4, pauseMs: 10, seed: round });
      await Bun.sleep(writeMs / 2);
      const downMs = round > 0 ? await receiver.killFor(DOWN_MS) : 0;
      await Bun.sleep(writeMs / 2);
      await load.end();
      unexpected.push(...load.unexpected);
      head = (await ask('GET', '/changes?start=now')).page_info.head;
      const enoughMs = downMs > SHORT_DOWN_MS ? THIRD_ATTEMPT_MS : patienceMs;
      await receiver.receivedUpTo(head, before.head, enoughMs);
      receiver.isFailing = false;
    }
    return {
      ...{ changes: head - before.head, requests: receiver.requests, refused: receiver.refused },
      faults: [...unexpected, ...receiver.faults],
    };
  } finally {
    await receiver.stop();
    await node.kill();
  }
}

class FailingReceiver {
  isFailing = true;
  requests = 0;
  refused = 0;
  readonly faults: string[] = [];
  readonly #port: number;
  readonly #failed = new Set<number>();
  readonly #taken = new Set<number>();
  /** The last change of each record. */
  readonly #last = new Map<string, number>();
  #underWay = 0;
  #server: Bun.Server<unknown> | null = null;
  #again: () => void = () => undefined;

  constructor(port: number) {
    this.#port = port;
  }

  get url(): string {
    return `http://${HOST}:${this.#port}/`;
  }

  /** Receives, and checks signatures with that secret. */
  listen(secret: string): void {
    this.#serve(new Webhook(secret));
  }

  /** Cuts all connections, and takes none for a while; gives how long that was, in milliseconds. */
  async killFor(ms: number): Promise<number> {
    const begun = performance.now();
    await this.#server?.stop(true);
    await Bun.sleep(ms);
    this.#again();
    return performance.now() - begun;
  }

  async stop(): Promise<void> {
    await this.#server?.stop(true);
  }

  /** Waits until every change from one to another has arrived; what has not once nothing came for a while is a fault. */
  async receivedUpTo(last: number, after: number, patienceMs: number): Promise<void> {
    let [requests, heardAt] = [this.requests, performance.now()];
    while (this.#taken.size < last - after && performance.now() - heardAt < patienceMs) {
      await Bun.sleep(20);
      if (this.requests !== requests) [requests, heardAt] = [this.requests, performance.now()];
    }
    for (let sequence = after + 1; sequence <= last; sequence++)
      if (!this.#taken.has(sequence)) this.faults.push(`change ${sequence} did not arrive`);
  }

  #serve(verifier: Webhook): void {
    const fetch = (request: Request) => this.#receive(request, verifier);
    this.#again = () => {
      this.#server = Bun.serve({ hostname: HOST, port: this.#port, fetch });
    };
    this.#again();
  }

  async #receive(request: Request, verifier: Webhook): Promise<Response> {
    this.requests += 1;
    this.#underWay += 1;
    if (this.#underWay > UNDER_WAY_MAX) this.faults.push(`${this.#underWay} requests at once`);
    try {
      const body = await request.text();
      const { data }: Json = verifier.verify(body, Object.fromEntries(request.headers));
      if (this.isFailing && data.sequence % SLOW_EVERY === 0) await Bun.sleep(SLOW_MS);
      const isFirst = !this.#failed.has(data.sequence) && !this.#taken.has(data.sequence);
      if (this.isFailing && data.sequence % FAILS_EVERY === 0 && isFirst) {
        this.#failed.add(data.sequence);
        this.refused += 1;
        return new Response(null, { status: 500 });
      }
      this.#take(data);
      return new Response(null, { status: 204 });
    } catch (error) {
      this.faults.push(String(error));
      return new Response(null, { status: 500 });
    } finally {
      this.#underWay -= 1;
    }
  }

  // What comes again was taken before, though the response to it was lost.
  #take({ sequence, resource, record_id }: Json): void {
    if (this.#taken.has(sequence)) return;
    const name = `${resource}/${record_id}`;
    const last = this.#last.get(name) ?? 0;
    if (sequence < last) this.faults.push(`${name}: change ${sequence} came after ${last}`);
    this.#last.set(name, sequence);
    this.#taken.add(sequence);
  }
}
