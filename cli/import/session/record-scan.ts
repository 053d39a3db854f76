// Reads existing records once for a dry run, so that most rows do not need a separate request.
import type { Data } from '../../../db/model/json.ts';
import { getResource } from '../../../db/model/resources/registry.ts';
import { type UniqueValue, uniqueValues } from '../../../db/model/rules.ts';
import type { Client } from '../../api/client.ts';
import { pageOf } from '../../api/envelope.ts';
import { listAt, pagesOf } from '../../api/pages.ts';
import { isRefusal } from '../../errors.ts';
import { KeyStore } from '../rows/key-store.ts';
import { requestForRow } from '../rows/row-request.ts';
import { keyOf, repeatKeys } from '../rows/unique-keys.ts';

/** How much of a resource was read; none if the key cannot read it. */
export type Scanned = 'all' | 'part' | 'none';

const PAGES_MIN = 10;
const PAGES_UNKNOWN = 50;

/** The IDs and unique values of records, and the owners of these values. */
export class RecordScan {
  readonly #client: Client;
  readonly #rowCount: number | null;
  readonly #signal: AbortSignal;
  readonly #scans = new Map<string, Promise<Scanned>>();
  readonly keys = new KeyStore();

  constructor(client: Client, rowCount: number | null, signal: AbortSignal) {
    this.#client = client;
    this.#rowCount = rowCount;
    this.#signal = signal;
  }

  close(): void {
    this.keys.close();
  }

  /** Reads the records of a resource on first use. */
  scanned(resource: string): Promise<Scanned> {
    return this.#scans.getOrInsertComputed(resource, () => this.#scan(resource));
  }

  /** The owner of a unique value, a record's ID or a row's line; undefined if there is none, null if unknown. */
  async ownerOf(resource: string, unique: UniqueValue): Promise<string | undefined | null> {
    const known = this.keys.get(keyOf(unique));
    if (known !== undefined) return known;
    const scanned = await this.scanned(resource);
    if (scanned !== 'part') return this.keys.get(keyOf(unique)) ?? (scanned === 'none' ? null : undefined);
    const query = { [unique.filter]: unique.value, limit: '1' };
    const options = { query, signal: this.#signal };
    const response = await requestForRow(this.#client, 'GET', `/api/v2/${resource}`, options);
    const [record] = pageOf(response).records;
    return record === undefined ? undefined : String(record.id);
  }

  hasId(resource: string, id: string): boolean {
    return this.keys.get(`id ${resource} ${id}`) !== undefined;
  }

  addId(resource: string, id: string): void {
    this.keys.add(`id ${resource} ${id}`, '');
  }

  /** Chooses what is cheaper: reading all records takes one request per 200, single checks one per row. */
  async #scan(resource: string): Promise<Scanned> {
    const list = listAt(`/api/v2/${resource}`, {}, this.#signal);
    const limit = list.pageSizeMax * Math.max(PAGES_MIN, this.#rowCount ?? PAGES_UNKNOWN);
    let isWhole = false;
    try {
      for await (const { records, nextCursor } of pagesOf(this.#client, list, { limit })) {
        this.keys.addAll(records.flatMap((record) => keysOf(resource, record)));
        isWhole = nextCursor === null;
      }
    } catch (error) {
      if (!isRefusal(error, 403)) throw error;
      return 'none';
    }
    return isWhole ? 'all' : 'part';
  }
}

function keysOf(resource: string, record: Data): [string, string][] {
  const { main_contact: contact } = record;
  const own = [
    ...uniqueValues(getResource(resource), record).map(keyOf),
    ...repeatKeys(getResource(resource), record, typeof contact === 'string' ? contact : null),
  ];
  return [
    [`id ${resource} ${record.id}`, ''],
    ...own.map((key): [string, string] => [key, String(record.id)]),
  ];
}
