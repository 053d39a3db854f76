// The organization whose clients are hostile: its keys, its large records, and what its clients have come to.
import { patienceMs } from '../patience.ts';
import { createContacts, runOnce } from '../service.ts';
import { headOf, type Outcome, Raw } from './raw.ts';

const KEYS = 10;
/** What the organization may hold. */
export const QUOTA = { records: 20_000, bytes: 96 * 2 ** 20, answers: 64 * 2 ** 20 };
const LARGE_CONTACTS = 60;
const CUSTOM_FIELDS = 90;
const CUSTOM_CHARACTERS = 1_000;

/** Makes the organization in a database that has another. */
export async function prepareHostile(db: string): Promise<string[]> {
  const run = (...args: string[]) => runOnce([...args, '--db', db]);
  await run('orgs', 'create', 'Hostile');
  const { records, bytes, answers } = QUOTA;
  const limits = ['--records', String(records), '--bytes', `${bytes}B`, '--replay-bytes', `${answers}B`];
  await run('orgs', 'quota', 'Hostile', ...limits);
  const issue = () => run('keys', 'issue', '--org', 'Hostile', '--all-scopes');
  return Promise.all(Array.from({ length: KEYS }, issue));
}

/** A value of `custom` that has some 90 KB, which compress to hardly less. */
export function largeCustom(): Record<string, string> {
  const text = () => Buffer.from(crypto.getRandomValues(new Uint8Array(CUSTOM_CHARACTERS * 0.75)));
  return Object.fromEntries(
    Array.from({ length: CUSTOM_FIELDS }, (_, field) => [`field ${field}`, text().toString('base64')]),
  );
}

export class Attack {
  readonly port: number;
  readonly #keys: readonly string[];
  /** Of each client, how often each outcome came. */
  readonly outcomes = new Map<string, Map<Outcome, number>>();
  /** What should not have come. */
  readonly faults: string[] = [];
  isOver = false;
  // What waits, and ends with the time.
  readonly #waiting = new Set<() => void>();

  constructor(
    readonly url: string,
    keys: readonly string[],
  ) {
    this.port = Number(new URL(url).port);
    this.#keys = keys;
  }

  /** One of the ten keys; clients of one number share it, with its limit and its half of what the organization has. */
  key(number: number): string {
    return this.#keys[number] ?? '';
  }

  /** Makes the records that the clients go on about; gives the id of one that is large. */
  async fill(): Promise<string> {
    await createContacts(this.url, this.key(0), 200, 'small');
    let id = '';
    for (let count = 0; count < LARGE_CONTACTS; count++) {
      const response = await fetch(`${this.url}/api/v2/contacts`, {
        method: 'POST',
        headers: { 'X-Service-Api-Key': this.key(1) },
        body: JSON.stringify({ first_name: `Large ${count}`, custom: largeCustom() }),
      });
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      ({ id } = ((await response.json()) as { data: { id: string } }).data);
    }
    return id;
  }

  note(client: string, outcome: Outcome): void {
    const of = this.outcomes.get(client) ?? new Map<Outcome, number>();
    of.set(outcome, (of.get(outcome) ?? 0) + 1);
    this.outcomes.set(client, of);
  }

  /** Sends a request at once, and waits for the first line of its answer; null where the time is over before. */
  async ask(request: string, { key, fields = {}, body = '' }: Asking): Promise<Outcome | null> {
    const raw = await Raw.open(this.port);
    try {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body;
      raw.write(headOf(request, key, { ...fields, 'Content-Length': bytes.length }));
      raw.write(bytes);
      return await this.#untilOver(raw.outcome(ANSWER_MS_MAX));
    } finally {
      raw.close();
    }
  }

  /** Waits so long, or until the time is over. */
  async sleep(ms: number): Promise<void> {
    if (!this.isOver) await this.#untilOver(Bun.sleep(ms));
  }

  // What a promise gives; null once the time is over. Not by Promise.race: a promise that lives as long as the trial would
  // keep everything that was ever raced with it.
  async #untilOver<T>(work: Promise<T>): Promise<T | null> {
    const { promise, resolve, reject } = Promise.withResolvers<T | null>();
    const end = () => resolve(null);
    this.#waiting.add(end);
    work.then(resolve, reject);
    try {
      return await promise;
    } finally {
      this.#waiting.delete(end);
    }
  }

  /** Has the clients end. */
  end(): void {
    this.isOver = true;
    for (const end of this.#waiting) end();
  }
}

export interface Asking {
  key: string;
  fields?: Record<string, string | number>;
  body?: string | Uint8Array;
}

/** What anything is answered within, be it with a refusal: ten seconds of waiting for room, and as long on a busy machine. */
export const ANSWER_MS_MAX = patienceMs(30_000);
