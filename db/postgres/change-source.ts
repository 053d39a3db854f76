// How nodes learn of each other's changes: by a notification soon after each commit, and by looking every second.
import type { SQL } from 'bun';
import { CompiledQuery } from 'kysely';
import type { ChangeListener, ChangeSource, LastChanges } from '../engine/change-signals.ts';
import type { Eventually } from '../engine/engine.ts';
import type { PostgresPool } from './pool.ts';

const CHANNEL = 'crm_changes';
const NOTIFY_EVERY_MS = 50;
const LOOK_EVERY_MS = 1_000;
// A notification has room for 8,000 bytes, an entry takes up to 34.
const ENTRIES_MAX = 200;

interface LastRow {
  org_id: number;
  last_change: number;
}

const LAST = CompiledQuery.raw(
  'select org_id, last_change from org_clocks where org_id = any($1::text::bigint[])',
) as CompiledQuery<LastRow>;

/**
 * Looks on a pool, and listens on a connection of its own.
 * @param options of that connection
 */
export function serverChanges(reader: PostgresPool, options: SQL.PostgresOrMySQLOptions): ChangeSource {
  const last = reader.bind(LAST);
  return {
    findLast: async (orgNumbers) => {
      const rows = await last([`{${orgNumbers.join()}}`]);
      return new Map(rows.map(({ org_id, last_change }) => [org_id, last_change]));
    },
    watch: (listener) => watch(listener, options),
  };
}

function watch(listener: ChangeListener, options: SQL.PostgresOrMySQLOptions): () => Eventually<void> {
  const client = new Bun.SQL({ ...options, adapter: 'postgres', max: 1 });
  let isListening = false;
  const listen = () => {
    isListening = true;
    // After each reconnection too: what was committed in between was not heard.
    client
      .listen(CHANNEL, (text) => listener.heard(parse(text)), listener.look.bind(listener))
      .catch(() => {
        isListening = false;
      });
  };
  listen();
  const looking = setInterval(() => {
    if (!isListening) listen();
    listener.look();
  }, LOOK_EVERY_MS);
  return async () => {
    clearInterval(looking);
    await client.close({ timeout: 0 });
  };
}

/** Notifies all nodes of changes, at most every 50 ms. */
export class ChangeNotifier {
  readonly #pool: Pick<PostgresPool, 'run'>;
  #waiting = new Map<number, number>();
  #timer: Timer | undefined;

  /** @param pool whose commits need not be durable */
  constructor(pool: Pick<PostgresPool, 'run'>) {
    this.#pool = pool;
  }

  /** Notes committed changes. */
  note(last: LastChanges): void {
    for (const [orgNumber, sequence] of last) this.#waiting.set(orgNumber, sequence);
    if (this.#timer === undefined) this.#begin();
  }

  /** Sends what is left. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#send();
  }

  // At once, and then not before the time is over.
  #begin(): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#waiting.size > 0) this.#begin();
    }, NOTIFY_EVERY_MS);
    this.#send();
  }

  async #send(): Promise<void> {
    const entries = [...this.#waiting].map(([orgNumber, sequence]) => `${orgNumber}:${sequence}`);
    this.#waiting = new Map();
    try {
      while (entries.length > 0)
        await this.#pool.run('select pg_notify($1, $2)', [CHANNEL, entries.splice(0, ENTRIES_MAX).join(' ')]);
    } catch {
      // Other nodes look by themselves.
    }
  }
}

function parse(text: string): LastChanges {
  const pairs = text.split(' ').map((entry) => entry.split(':').map(Number));
  return new Map(pairs.map(([orgNumber = 0, sequence = 0]) => [orgNumber, sequence]));
}
