// The rows of `update`, `delete` and `get --from`: how they become batches.
import { type Data, isObject, type JsonValue } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { withArticle } from '../../db/model/text.ts';
import type { Client } from '../api/client.ts';
import { resourcePath } from '../api/target.ts';
import { sha256 } from '../files/digest.ts';
import {
  ERROR_COLUMNS,
  type PreparedRow,
  type Rejection,
  type RowOutcome,
  type SourceRow,
} from '../import/row.ts';
import { JOURNAL_SUFFIX } from '../import/session/journal.ts';
import type { PendingBatch } from '../import/session/journal-state.ts';
import { failureOf, postBatch } from '../import/session/post-batch.ts';
import type { Reporter } from '../import/session/report.ts';
import type { RowJob, RowSender, SettledRow } from '../import/session/row-job.ts';
import { canMeanId, RowIds } from './row-ids.ts';

/** What can be done with many records by their IDs. */
export type BulkVerb = 'update' | 'delete' | 'get';

const GERUNDS = { update: 'updating', delete: 'deleting', get: 'getting' } as const;

export interface BulkParts {
  verb: BulkVerb;
  resource: Resource;
  client: Client;
  reporter: Reporter;
  interruption: AbortController;
  isDryRun: boolean;
  concurrency: number;
  /** Values that every row gets. */
  constants: Data;
  /** Takes the records of a batch, in the order of the input. */
  onFound: (records: readonly Data[]) => Promise<void>;
  /** Takes the ID of each request that deleted records. */
  onRequest: (requestId: string) => void;
}

/** Updates, deletes or gets the records of an input. */
export class BulkJob implements RowJob {
  readonly verb: BulkVerb;
  readonly gerund: string;
  readonly resource: Resource;
  readonly isWrite: boolean;
  readonly journalSuffix: string;
  readonly mapping: string;
  readonly settings = '[]';
  readonly ifRepeated = null;
  readonly #parts: BulkParts;

  constructor(parts: BulkParts) {
    const { verb, resource, constants } = parts;
    this.#parts = parts;
    this.verb = verb;
    this.gerund = GERUNDS[verb];
    this.resource = resource;
    this.isWrite = verb !== 'get';
    this.journalSuffix = `${JOURNAL_SUFFIX}-${verb}`;
    this.mapping = sha256(JSON.stringify(constants));
  }

  takes(): boolean {
    return true;
  }

  shown(row: SourceRow): SourceRow {
    return row;
  }

  startPass(keyPrefix: string): RowSender {
    return new BulkPass(this.#parts, keyPrefix);
  }

  async settled(rows: readonly SettledRow[]): Promise<void> {
    const { reporter, onFound } = this.#parts;
    const records: Data[] = [];
    for (const { row, outcome } of rows) {
      if (outcome.status === 'rejected') reporter.reasons.take(row, outcome.rejection, null);
      else if (outcome.status === 'found' && outcome.record !== undefined) records.push(outcome.record);
    }
    await onFound(records);
  }
}

class BulkPass implements RowSender {
  readonly concurrency: number;
  readonly #parts: BulkParts;
  readonly #keyPrefix: string;
  readonly #ids: RowIds;
  replays = 0;

  constructor(parts: BulkParts, keyPrefix: string) {
    this.#parts = parts;
    this.#keyPrefix = keyPrefix;
    this.concurrency = parts.concurrency;
    this.#ids = new RowIds(parts.client, parts.resource, parts.interruption.signal);
  }

  lookAhead(rows: readonly SourceRow[]): Promise<void> {
    return this.#ids.learn(rows.map((row) => this.#bodyOf(row)));
  }

  async prepare(source: SourceRow): Promise<PreparedRow> {
    const { line, fault } = source;
    if (fault !== null) return { line, rejection: fault };
    const body = this.#bodyOf(source);
    const isUpdate = this.#parts.verb === 'update';
    const rejection = this.#idFault(body.id ?? null) ?? (isUpdate ? fieldsFault(body) : null);
    if (rejection !== null) return { line, rejection };
    const found = this.#ids.whole(body);
    return 'rejection' in found ? { line, ...found } : { line, body: found.row };
  }

  #bodyOf({ entries }: SourceRow): Data {
    const { verb, constants } = this.#parts;
    const row: Data = Object.fromEntries(entries.filter(([name]) => !isErrorColumn(name)));
    return verb === 'update' ? withConstants(row, constants) : { id: row.id ?? null };
  }

  /** Other text would only be not found, or make a request too large. */
  #idFault(id: JsonValue): Rejection | null {
    if (typeof id === 'string' && canMeanId(id)) return null;
    const message = `must be the ID of ${withArticle(this.#parts.resource.singular)}`;
    return id === null
      ? { code: 'VALIDATION_REQUIRED_FIELD', path: 'id', message: 'is required' }
      : { code: 'VALIDATION_INVALID_FORMAT', path: 'id', message };
  }

  /**
   * Rows of one record keep their order, and so do those that may take a value, or a place, that an earlier row frees:
   * an email of another contact, a note below another.
   */
  orderingKeys(body: Data): string[] {
    const { verb, resource } = this.#parts;
    if (verb === 'get') return [];
    const { unique, fields, name } = resource;
    const shared = Object.keys(body).some(
      (field) => Object.values(unique).flat().includes(field) || fields[field]?.references === name,
    );
    return [String(body.id), ...(shared ? ['shared'] : [])];
  }

  async send({ number, rows }: PendingBatch): Promise<RowOutcome[]> {
    const { verb, resource, client, isDryRun, interruption, onRequest } = this.#parts;
    const bodies = rows.flatMap((row) => ('body' in row ? [row.body] : []));
    const { results, replays, requestIds } = await postBatch({
      client,
      path: `${resourcePath(resource)}/batch/${verb}`,
      items: verb === 'update' ? bodies : bodies.map(({ id = null }) => id),
      // Reading leaves nothing to repeat.
      idempotencyKey: verb === 'get' ? null : `${this.#keyPrefix}-${number}`,
      ...{ isDryRun, signal: interruption.signal },
    });
    this.replays += replays;
    if (results.some(({ status }) => status === 'deleted')) requestIds.forEach(onRequest);
    const left = results.values();
    return rows.map((row): RowOutcome => {
      if ('rejection' in row) return { status: 'rejected', rejection: row.rejection };
      const item = left.next().value;
      if (item === undefined || item.status === 'error') return failureOf(item);
      return { status: item.status, ...(item.data && { record: item.data }) };
    });
  }

  close(): void {}
}

function fieldsFault(body: Data): Rejection | null {
  if (Object.keys(body).length > 1) return null;
  const message =
    'has no field to update; add field=value to the command, or use rows like {"id": …, "title": "CTO"}';
  return { code: 'VALIDATION_REQUIRED_FIELD', path: '', message };
}

function isErrorColumn(name: string): boolean {
  return (ERROR_COLUMNS as readonly string[]).includes(name);
}

/** The row with the values of the command line, which win; custom fields are merged. */
function withConstants(row: Data, constants: Data): Data {
  const merged = { ...row, ...constants };
  if (isObject(row.custom) && isObject(constants.custom))
    merged.custom = { ...row.custom, ...constants.custom };
  return merged;
}
