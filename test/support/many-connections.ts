// Many kept connections to one server, so that each of its threads has some of them.

import type { Json } from './json.ts';
import { headerOf, Kept, statusOf } from './kept-connections.ts';

/** So many that with two threads each has some, but for once in two billion times. */
export const CONNECTIONS = 32;

export interface Answered {
  status: number;
  header(name: string): string;
  body: Json;
}

export interface Asking {
  key?: string;
  body?: Json;
  /** Further lines of the head. */
  headers?: Readonly<Record<string, string>>;
}

export class ManyConnections {
  readonly #all: readonly Kept[];

  private constructor(all: readonly Kept[]) {
    this.#all = all;
  }

  static async open(url: string, count = CONNECTIONS): Promise<ManyConnections> {
    const port = Number(new URL(url).port);
    const opened = await Promise.all(Array.from({ length: count }, () => Kept.open(port)));
    return new ManyConnections(opened.filter((one) => one !== null));
  }

  get count(): number {
    return this.#all.length;
  }

  /** Sends a request on one of them. */
  async ask(index: number, method: string, path: string, asking: Asking = {}): Promise<Answered> {
    const kept = this.#all[index];
    if (kept === undefined) throw new Error(`there is no connection ${index}`);
    const { key, body, headers = {} } = asking;
    const lines = Object.entries({ Host: 'crm', ...(key && { Authorization: `Bearer ${key}` }), ...headers });
    const head = [`${method} ${path} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`)];
    const outcome = await kept.send(head.join('\r\n'), body === undefined ? '' : JSON.stringify(body));
    return {
      status: statusOf(outcome),
      header: (name) => headerOf(outcome, name),
      body: kept.body === '' ? undefined : JSON.parse(kept.body),
    };
  }

  /** Sends a request on each of them, at once. */
  each(method: string, path: string, asking?: Asking): Promise<Answered[]> {
    return Promise.all(this.#all.map((_, index) => this.ask(index, method, path, asking)));
  }

  close(): void {
    for (const one of this.#all) one.close();
  }
}
