// Receives webhooks: a server on this machine that keeps what came in, and answers as a test wants.
import type { Server } from 'bun';
import type { Json } from './json.ts';
import { until } from './until.ts';

export interface Received {
  id: string;
  headers: Headers;
  text: string;
  body: Json;
  /** Number of requests under way when it came, itself included. */
  underWay: number;
}

/** Answers a request; by default with 204. */
export type Answering = (request: Received, index: number) => Response | Promise<Response>;

export class WebhookReceiver {
  readonly received: Received[] = [];
  answer: Answering = () => new Response(null, { status: 204 });
  readonly #server: Server<undefined>;
  #underWay = 0;

  constructor(port = 0) {
    this.#server = Bun.serve({
      port,
      hostname: '127.0.0.1',
      idleTimeout: 60,
      fetch: async (request) => {
        this.#underWay += 1;
        const text = await request.text();
        const { headers } = request;
        const id = headers.get('webhook-id') ?? '';
        const one = { id, headers, text, body: JSON.parse(text), underWay: this.#underWay };
        const index = this.received.push(one) - 1;
        try {
          return await this.answer(one, index);
        } finally {
          this.#underWay -= 1;
        }
      },
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}/hook`;
  }

  get port(): number {
    return this.#server.port ?? 0;
  }

  /** The sequence numbers of the changes that came in, in order. */
  get sequences(): number[] {
    return this.received.flatMap(({ body }) => (body.type === 'ping' ? [] : [Number(body.data.sequence)]));
  }

  /** Waits until there are that many requests. */
  wait(count: number): Promise<void> {
    return until(
      () => this.received.length >= count,
      () => `${this.received.length} of ${count} webhooks were received`,
    );
  }

  close(): Promise<void> {
    return this.#server.stop(true);
  }
}
