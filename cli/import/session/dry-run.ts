// What a run would do with each row, found out without writing: references, conflicts with the server and in the file.
import { type Fault, unknownReference } from '../../../db/declare/faults.ts';
import type { Data } from '../../../db/declare/json.ts';
import type { Resource } from '../../../db/declare/resource.ts';
import { takenMessage, type UniqueValue, uniqueValues } from '../../../db/declare/rules.ts';
import { STAGE_ELSEWHERE } from '../../../db/resources/deals.ts';
import { getResource } from '../../../db/resources/index.ts';
import type { Client } from '../../api/client.ts';
import { pageOf } from '../../api/envelope.ts';
import { listAt, pagesOf } from '../../api/pages.ts';
import { isRefusal } from '../../errors.ts';
import type { OnDuplicate } from '../request.ts';
import { RowFault, type RowOutcome, rejectionOf } from '../row.ts';
import { askForRow } from '../rows/ask.ts';
import { KeyStore } from '../rows/key-store.ts';
import { type Lookups, PLACEHOLDER_ID } from '../rows/lookups.ts';
import { keyOf, orderingKeys } from '../rows/unique-keys.ts';
import type { PendingBatch } from './journal-state.ts';

export interface CheckerOptions {
  resource: Resource;
  onDuplicate: OnDuplicate;
  /** How many rows there are, if known. */
  rowCount: number | null;
  lookups: Lookups;
  signal: AbortSignal;
}

/** How much of a resource's records is in the store; none where the key may not read them. */
type Scanned = 'all' | 'part' | 'none';

const PAGES_MIN = 10;
const PAGES_UNKNOWN = 50;

/** Stands in for the Sender in a dry run. */
export class DryRunChecker {
  readonly #client: Client;
  readonly #options: CheckerOptions;
  readonly #keys = new KeyStore();
  readonly #scans = new Map<string, Promise<Scanned>>();
  /** Resources that the key may not read, so that nothing could be held against them. */
  readonly unchecked = new Set<string>();

  constructor(client: Client, options: CheckerOptions) {
    this.#client = client;
    this.#options = options;
  }

  close(): void {
    this.#keys.close();
  }

  /** The outcome that each row of the batch would have. */
  async send(batch: PendingBatch): Promise<RowOutcome[]> {
    const outcomes: RowOutcome[] = [];
    for (const row of batch.rows) {
      outcomes.push(
        'rejection' in row
          ? { status: 'rejected', rejection: row.rejection }
          : await this.#check(row.body, row.line),
      );
    }
    return outcomes;
  }

  async #check(body: Data, line: number): Promise<RowOutcome> {
    const faults = [...(await this.#referenceFaults(body)), ...(await this.#stageFaults(body))];
    if (faults.length > 0) return { status: 'rejected', rejection: rejectionOf(faults) };
    const { resource, onDuplicate } = this.#options;
    const conflicts = await this.#conflicts(body);
    const [conflict] = conflicts;
    const isUpdatable = onDuplicate === 'update' && new Set(conflicts.map(({ owner }) => owner)).size === 1;
    if (conflict !== undefined && onDuplicate !== 'skip' && !isUpdatable) {
      const { path, message } = conflict;
      return { status: 'rejected', rejection: { code: 'RESOURCE_CONFLICT', path, message } };
    }
    if (conflict !== undefined && onDuplicate === 'skip') return { status: 'skipped' };
    const keys = orderingKeys(resource, body);
    // What repeats a record is not written again.
    const isRepeated =
      resource.repeatedBy.length > 0 && keys.some((key) => this.#keys.get(key) !== undefined);
    this.#keys.addAll(keys.map((key) => [key, `line ${line}`] as const));
    if (isRepeated) return { status: 'skipped' };
    return conflict === undefined ? { status: 'created' } : { status: 'updated' };
  }

  /** Who has the unique values of a body already. */
  async #conflicts(body: Data): Promise<{ owner: string; path: string; message: string }[]> {
    const { resource } = this.#options;
    const conflicts: { owner: string; path: string; message: string }[] = [];
    for (const unique of uniqueValues(resource, body)) {
      const known = this.#keys.get(keyOf(unique));
      const scanned = known === undefined ? await this.#scanned(resource.name) : 'all';
      const owner = scanned === 'part' ? await this.#owner(unique) : this.#keys.get(keyOf(unique));
      if (owner === undefined) continue;
      conflicts.push({ owner, path: unique.path, message: `${takenMessage(resource, unique)}: ${owner}` });
    }
    return conflicts;
  }

  async #owner({ filter, value }: UniqueValue): Promise<string | undefined> {
    const { resource, signal } = this.#options;
    const path = `/api/v2/${resource.name}`;
    const response = await askForRow(this.#client, 'GET', path, {
      query: { [filter]: value, limit: '1' },
      signal,
    });
    const [record] = pageOf(response).records;
    return record === undefined ? undefined : ownerName(resource, record);
  }

  async #referenceFaults(body: Data): Promise<Fault[]> {
    const faults: Fault[] = [];
    for (const [name, value] of Object.entries(body)) {
      const target = this.#options.resource.fields[name]?.references;
      // Users cannot be asked for; stages are looked at apart.
      if (target === undefined || ['', 'users', 'stages'].includes(target) || typeof value !== 'string')
        continue;
      if (value === PLACEHOLDER_ID || (await this.#exists(target, value))) continue;
      faults.push(unknownReference(name, target));
    }
    return faults;
  }

  async #stageFaults({ stage_id: stageId, pipeline_id: pipelineId }: Data): Promise<Fault[]> {
    if (typeof stageId !== 'string') return [];
    const pipelines = await this.#options.lookups.pipelines();
    const wanted = typeof pipelineId === 'string' ? pipelineId : pipelines[0]?.id;
    const found = pipelines.find(({ stages }) => stages.some(({ id }) => id === stageId));
    // Of a pipeline that is not there, that alone is told.
    if (found?.id === wanted || !pipelines.some(({ id }) => id === wanted)) return [];
    if (found === undefined) return [unknownReference('stage_id', 'stages')];
    return [{ path: 'stage_id', message: STAGE_ELSEWHERE, code: 'VALIDATION_FAILED' }];
  }

  async #exists(resource: string, id: string): Promise<boolean> {
    const key = `id ${resource} ${id}`;
    if (this.#keys.get(key) !== undefined) return true;
    const scanned = await this.#scanned(resource);
    if (scanned === 'none') return true;
    if (scanned === 'all' || this.#keys.get(key) !== undefined) return this.#keys.get(key) !== undefined;
    const { signal } = this.#options;
    try {
      await askForRow(this.#client, 'GET', `/api/v2/${resource}/${encodeURIComponent(id)}`, { signal });
    } catch (error) {
      if (error instanceof RowFault) return false;
      throw error;
    }
    this.#keys.add(key, '');
    return true;
  }

  #scanned(resource: string): Promise<Scanned> {
    const scan = this.#scans.get(resource) ?? this.#scan(resource);
    this.#scans.set(resource, scan);
    return scan;
  }

  /** Reading all records costs a request for 200 of them, asking for each row one a row: the cheaper is chosen. */
  async #scan(resource: string): Promise<Scanned> {
    const { rowCount, signal } = this.#options;
    const list = listAt(`/api/v2/${resource}`, {}, signal);
    const limit = list.pageSizeMax * Math.max(PAGES_MIN, rowCount ?? PAGES_UNKNOWN);
    let isWhole = false;
    try {
      for await (const { records, nextCursor } of pagesOf(this.#client, list, { limit })) {
        this.#keys.addAll(records.flatMap((record) => this.#keysOfRecord(resource, record)));
        isWhole = nextCursor === null;
      }
    } catch (error) {
      if (!isRefusal(error, 403)) throw error;
      this.unchecked.add(resource);
      return 'none';
    }
    return isWhole ? 'all' : 'part';
  }

  #keysOfRecord(resource: string, record: Data): [string, string][] {
    const owner = ownerName(this.#options.resource, record);
    const unique = uniqueValues(getResource(resource), record).map((one): [string, string] => [
      keyOf(one),
      owner,
    ]);
    return [[`id ${resource} ${record.id}`, ''], ...unique];
  }
}

function ownerName(resource: Resource, record: Data): string {
  return `the ${resource.singular} ${record.id}`;
}
