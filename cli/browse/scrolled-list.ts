// A list that is read while a person scrolls, with the names of what its records refer to.
import type { Data } from '../../db/model/json.ts';
import type { Client } from '../api/client.ts';
import { includedIn } from '../api/envelope.ts';
import type { Pageable } from '../api/pages.ts';
import { nameOf } from '../api/record-name.ts';

const PAGE_SIZE = 50;

/** The records so far. */
export class ScrolledList {
  readonly records: Data[] = [];
  /** The names of users, companies, stages and others, by ID; lists share them. */
  readonly names: Map<string, string>;
  /** Whether there are no more records. */
  isWhole = false;
  readonly #client: Client;
  readonly #list: Pageable;
  #cursor: string | null = null;
  #reading: Promise<void> | undefined;

  constructor(client: Client, list: Pageable, names: Map<string, string>) {
    this.names = names;
    this.#client = client;
    this.#list = list;
  }

  /** Reads the next page, once at a time. */
  more(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    if (this.isWhole) return;
    const { records, nextCursor, response } = await this.#list.page(this.#client, this.#cursor, PAGE_SIZE);
    for (const group of Object.values(includedIn(response))) {
      for (const [id, record] of Object.entries(group)) this.names.set(id, nameOf(record) ?? id);
    }
    this.records.push(...records);
    this.#cursor = nextCursor;
    this.isWhole = nextCursor === null;
  }
}
