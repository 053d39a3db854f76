// Another organization's clients: what they ask at a steady rate, and how long each of them waits, in a process of their own.
import { patienceMs } from '../patience.ts';

// In the suite fewer, which stay below the usual limits even where a busy machine sends those of a minute together.
const RATE = process.env.NODE_ENV === 'test' ? 3 : 12;
const TICK_MS = 1_000 / RATE;
const PHONE_BYTES = 20_000;
const PHONE_PIECES = 10;
const PHONE_PAUSE_MS = 500;
const ANSWER_MS_MAX = patienceMs(30_000);

/** What the requests of a part of the time came to. */
export interface Waits {
  /** Milliseconds until the whole answer was there, of each request. */
  waits: number[];
  /** Bodies that came slowly, as from a phone, and were taken. */
  phones: number;
  /** Answers that should not have come. */
  unexpected: string[];
}

export class Bystander {
  readonly #url: string;
  readonly #keys: readonly string[];
  #waits: number[] = [];
  #phones = 0;
  #unexpected: string[] = [];
  #ids: string[] = [];
  #isOver = false;
  #next = 0;
  readonly #open = new Set<Promise<void>>();

  constructor(url: string, keys: readonly string[]) {
    this.#url = url;
    this.#keys = keys;
  }

  /** Sends requests until `end`: at the times that are due, however long responses take. */
  async run(): Promise<void> {
    const phone = this.#phone();
    const begunAt = performance.now();
    for (let tick = 0; !this.#isOver; tick++) {
      const dueMs = begunAt + tick * TICK_MS - performance.now();
      if (dueMs > 0) await Bun.sleep(dueMs);
      const asked = this.#ask().finally(() => this.#open.delete(asked));
      this.#open.add(asked);
    }
    await Promise.all([phone, ...this.#open]);
  }

  end(): void {
    this.#isOver = true;
  }

  /** What it came to since it was asked last. */
  take(): Waits {
    const taken = { waits: this.#waits, phones: this.#phones, unexpected: this.#unexpected };
    [this.#waits, this.#phones, this.#unexpected] = [[], 0, []];
    return taken;
  }

  async #ask(): Promise<void> {
    const number = this.#next++;
    const id = this.#ids[number % this.#ids.length];
    const sent =
      id === undefined || number % 6 === 0
        ? await this.#send(number, 'POST', '/contacts', 201, {
            first_name: `Ada ${number}`,
            custom: { number },
          })
        : number % 6 === 1
          ? await this.#send(number, 'GET', '/contacts?limit=20', 200)
          : number % 6 === 2
            ? await this.#send(number, 'PATCH', `/contacts/${id}`, 200, { title: `T${number}` })
            : await this.#send(number, 'GET', `/contacts/${id}`, 200);
    const made = sent?.data?.id;
    if (made !== undefined && this.#ids.length < 500) this.#ids.push(made);
  }

  async #send(number: number, method: string, path: string, status: number, body?: object) {
    const begunAt = performance.now();
    try {
      const response = await fetch(`${this.#url}/api/v2${path}`, {
        method,
        headers: { 'X-Service-Api-Key': this.#keys[number % this.#keys.length] ?? '' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      });
      const text = await response.text();
      this.#waits.push(performance.now() - begunAt);
      if (response.status === status) return JSON.parse(text) as { data?: { id?: string } };
      this.#unexpected.push(`${method} ${path}: ${response.status} ${text.slice(0, 200)}`);
    } catch (error) {
      this.#unexpected.push(`${method} ${path}: ${error}`);
    }
    return null;
  }

  // A weak connection: what it writes comes in pieces, and is taken.
  async #phone(): Promise<void> {
    const text = JSON.stringify({ first_name: 'Phone', remarks: 'r'.repeat(9_000) }).padEnd(PHONE_BYTES);
    for (let number = 0; !this.#isOver; number++) {
      const pieces = async function* () {
        for (let at = 0; at < text.length; at += PHONE_BYTES / PHONE_PIECES) {
          yield Buffer.from(text.slice(at, at + PHONE_BYTES / PHONE_PIECES));
          await Bun.sleep(PHONE_PAUSE_MS);
        }
      };
      try {
        const response = await fetch(`${this.#url}/api/v2/contacts`, {
          method: 'POST',
          headers: { 'X-Service-Api-Key': this.#keys[number % this.#keys.length] ?? '' },
          body: new Response(pieces()).body,
        });
        if (response.status === 201) this.#phones += 1;
        else this.#unexpected.push(`a phone: ${response.status} ${(await response.text()).slice(0, 200)}`);
      } catch (error) {
        this.#unexpected.push(`a phone: ${error}`);
      }
    }
  }
}

/** The process: asked what the requests came to since it was asked last, and told to end. */
async function serveBystander(url: string, keys: readonly string[]): Promise<void> {
  const bystander = new Bystander(url, keys);
  process.on('message', (word) => {
    if (word === 'take') process.send?.(bystander.take());
    else bystander.end();
  });
  await bystander.run();
  process.disconnect?.();
}

if (import.meta.main) {
  const [url = '', ...keys] = process.argv.slice(2);
  await serveBystander(url, keys);
}
