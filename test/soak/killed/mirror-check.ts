// A copy that is made from the log of changes alone, compared with the database after each kill.
import { ChangeMirror, listsOf, MIRRORED } from '../../support/change-mirror.ts';
import { httpClient } from '../../support/http-client.ts';
import type { Client } from '../../support/v2.ts';
import type { ChangeLedger } from './change-ledger.ts';
import { ask } from './database.ts';

/** By what the copy has, the table of it. */
const TABLES = {
  ...Object.fromEntries(MIRRORED.map((name) => [name, name])),
  'deals.contacts': 'deal_contacts',
};

export class MirrorCheck {
  readonly #db: string;
  readonly #client: Client;
  readonly #mirror: ChangeMirror;

  constructor(db: string, { url, key }: { url: string; key: string }, changes: ChangeLedger) {
    this.#db = db;
    this.#client = httpClient(url, key);
    this.#mirror = new ChangeMirror(this.#client, false, (change) => changes.see(change));
  }

  /** Reads the log to its end; the differences between the copy and what was written since an instant, and all counts. */
  async differencesSince(instant: number): Promise<string[]> {
    await this.#mirror.follow();
    const differences: string[] = [];
    for (const resource of MIRRORED) {
      // Pipelines cannot be listed by their last update.
      const since = `${resource === 'pipelines' ? 'created' : 'updated'}_since=${instant}`;
      differences.push(
        ...this.#mirror.differences(resource, await this.#client.all(`/${resource}?${since}`)),
      );
    }
    const counts = Object.values(TABLES).map((table) => `(select count(*) from ${table}) as ${table}`);
    const [row] = await ask(this.#db, `select ${counts}`);
    for (const [name, table] of Object.entries(TABLES)) {
      const [is, copied] = [Number(row?.[table]), this.#mirror.count(name)];
      if (is !== copied) differences.push(`${name}: the copy has ${copied}, the table ${is}`);
    }
    return differences;
  }

  /** Compares the copy with all lists. @throws if they differ */
  async compareAll(): Promise<void> {
    await this.#mirror.expectSame(listsOf(this.#client));
  }
}
