// Common steps of every ingest: find the record by external ID, write the given fields, count the result.

import { findUserByEmail } from '../accounts/accounts.ts';
import { actingAs } from '../engine/acting.ts';
import { OPERATOR } from '../engine/author.ts';
import { QuotaError } from '../engine/quota.ts';
import type { RecordRow, RecordTrx } from '../engine/schema.ts';
import { withSavepoint } from '../engine/transaction.ts';
import { takeInstant } from '../engine/write-instant.ts';
import type { ColumnValue } from '../model/fields.ts';
import type { Data } from '../model/json.ts';
import type { Resource } from '../model/resource.ts';
import { contacts } from '../model/resources/contacts.ts';
import { logInteraction, type NewInteraction } from '../records/interactions.ts';
import { changedColumns, updateRecord } from '../records/record-updates.ts';
import { findRecords, insertRecord } from '../records/records.ts';
import { findReferences, referenceFaults } from '../records/references.ts';
import type { Store } from '../store.ts';
import { emailsOf, findContactsByEmail } from '../tables/contact-emails.ts';

export interface IngestEntry {
  /** Line in the file, for error messages. */
  line: number;
  /** The given fields, including `external_id`. */
  data: Data;
}

export interface IngestOptions {
  orgNumber: number;
  /** created_by of records: the ID of the organization. */
  createdBy: string;
  /** The owner of records that get none from an organizer or meeting. */
  ownerId: string | null;
  /** Unix milliseconds. */
  clock: () => number;
  /** Called after every transaction with the number of entries processed. */
  onProgress?: (done: number) => void;
}

export type Outcome = 'created' | 'updated' | 'unchanged' | 'cancelled';

export interface IngestReport extends Record<Outcome, number> {
  faults: { line: number; message: string }[];
}

/** An entry that cannot be stored; the message is for the operator. */
export class IngestFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'IngestFault';
  }
}

// Other processes wait for the write lock as long as a transaction takes, and get it in the pause after it.
const TRANSACTION_MS = 50;
const PAUSE_MS = 5;
const ITEMS_MAX = 100;
const OUTCOMES: readonly Outcome[] = ['created', 'updated', 'unchanged', 'cancelled'];

/** One transaction of an ingest: its options, and the results of its entries. */
export interface IngestTransaction extends IngestOptions {
  trx: RecordTrx;
  /** The current time in Unix milliseconds: what is earlier has happened. */
  now: number;
  /** The time of the writes, in Unix milliseconds; only called if something is written. */
  instant(): Promise<number>;
  report: IngestReport;
}

/** What an ingest stores, and how. */
export interface IngestJob<T> {
  /** Read as needed, so that a source of any length fits in memory. */
  items: AsyncIterable<T> | Iterable<T>;
  /** How many entries an item counts as; one by default. */
  countOf?: (item: T) => number;
  write(transaction: IngestTransaction, item: T): Promise<void>;
}

/**
 * Writes the items in transactions of about 50 ms with pauses between them, so that a running server is not blocked.
 * @throws QuotaError at the first item that does not fit; the items before it are stored
 */
export async function ingestAll<T>(
  store: Store,
  options: IngestOptions,
  { items, countOf = () => 1, write }: IngestJob<T>,
): Promise<IngestReport> {
  const total = emptyReport();
  let waiting: T[] = [];
  let itemsMax = 1;
  let done = 0;
  const writeSome = async () => {
    const some = waiting.slice(0, itemsMax);
    const { report, count, tookMs, refusal } = await store.write(options.orgNumber, (trx) =>
      writeWithinTimeBudget(actingAs(trx, OPERATOR), options, some, write),
    );
    waiting = waiting.slice(count);
    for (const outcome of OUTCOMES) total[outcome] += report[outcome];
    total.faults.push(...report.faults);
    done += some.slice(0, count).reduce((sum, item) => sum + countOf(item), 0);
    options.onProgress?.(done);
    if (refusal !== null) throw refusal;
    itemsMax = Math.max(1, Math.min(ITEMS_MAX, count * 2, Math.floor((count * TRANSACTION_MS) / tookMs)));
    await Bun.sleep(PAUSE_MS);
  };
  for await (const item of items) {
    waiting.push(item);
    if (waiting.length >= itemsMax) await writeSome();
  }
  while (waiting.length > 0) await writeSome();
  return total;
}

// Stops after the time of a transaction, or at the organization's quota; returns how many items it has written.
async function writeWithinTimeBudget<T>(
  trx: RecordTrx,
  options: IngestOptions,
  items: readonly T[],
  write: IngestJob<T>['write'],
): Promise<{ report: IngestReport; count: number; tookMs: number; refusal: QuotaError | null }> {
  const startedAt = performance.now();
  const now = options.clock();
  let taken: Promise<number> | undefined;
  const instant = () => (taken ??= takeInstant(trx, options.orgNumber, now));
  const transaction = { ...options, trx, now, instant, report: emptyReport() };
  let count = 0;
  let tookMs = 0;
  while (count < items.length && tookMs < TRANSACTION_MS) {
    const { faults, ...counts } = transaction.report;
    const before = { ...counts, faults: [...faults] };
    try {
      await withSavepoint(trx, () => write(transaction, items[count] as T));
    } catch (error) {
      if (!(error instanceof QuotaError)) throw error;
      return { report: before, count, tookMs, refusal: error };
    }
    count += 1;
    tookMs = performance.now() - startedAt;
  }
  return { report: transaction.report, count, tookMs, refusal: null };
}

function emptyReport(): IngestReport {
  return { created: 0, updated: 0, unchanged: 0, cancelled: 0, faults: [] };
}

/** Counts the result of an entry, or reports its fault. */
export async function recordOutcome(
  { report }: IngestTransaction,
  { line }: IngestEntry,
  write: () => Promise<Outcome>,
): Promise<void> {
  try {
    report[await write()] += 1;
  } catch (error) {
    if (!(error instanceof IngestFault)) throw error;
    report.faults.push({ line, message: error.message });
  }
}

export interface StoredEntry {
  /** The row after the write. */
  row: RecordRow;
  outcome: Outcome;
}

/** Like `upsert`, with an owner: the given one, else the organizer if that is a user, else that of the run. */
export async function upsertOwned(
  transaction: IngestTransaction,
  resource: Resource,
  data: Data,
  stored: RecordRow | undefined,
): Promise<StoredEntry> {
  if (typeof data.owner_id === 'string') return upsert(transaction, resource, data, stored);
  const organizer = data.organizer ?? resource.fields.organizer?.decode(stored?.organizer ?? null);
  const [email] = emailsOf(organizer);
  const user =
    email === undefined ? undefined : await findUserByEmail(transaction.trx, transaction.orgNumber, email);
  const owner_id = user?.id ?? transaction.ownerId ?? undefined;
  return upsert(transaction, resource, owner_id === undefined ? data : { ...data, owner_id }, stored);
}

/**
 * Creates the record, or changes the given fields that differ.
 * @throws IngestFault if the data refers to a record that does not exist
 */
export async function upsert(
  { trx, orgNumber, createdBy: unowned, instant }: IngestTransaction,
  resource: Resource,
  data: Data,
  stored: RecordRow | undefined,
): Promise<StoredEntry> {
  const given = { input: data, current: stored ?? null };
  const found = await findReferences(trx, resource.fields, [given], { orgNumber, sees: () => true });
  const faults = referenceFaults(resource.fields, given, found);
  if (faults.length > 0) {
    throw new IngestFault(faults.map(({ path, message }) => `${path}: ${message}`).join('; '));
  }
  if (stored === undefined) {
    const createdBy = typeof data.owner_id === 'string' ? data.owner_id : unowned;
    const record = { orgNumber, createdBy, now: await instant(), data };
    return { row: await insertRecord(trx, resource, record), outcome: 'created' };
  }
  const changed = changedColumns(resource, stored, data);
  if (Object.keys(changed).length === 0) return { row: stored, outcome: 'unchanged' };
  const columns = { ...changed, updated_at: await instant() };
  await updateRecord(trx, resource, { orgNumber, row: stored }, columns);
  const row: RecordRow = { ...stored, ...columns };
  const isCancelled = row.status === 'cancelled' && stored.status !== 'cancelled';
  return { row, outcome: isCancelled ? 'cancelled' : 'updated' };
}

export interface LoggedEvent
  extends Pick<NewInteraction, 'type' | 'title' | 'summary' | 'interactionDate' | 'primaryId'> {
  emails: readonly string[];
  ownerId: ColumnValue | undefined;
}

/** Logs a meeting or booking as an interaction with those people who are contacts; nothing if no one is. */
export async function logEvent(transaction: IngestTransaction, event: LoggedEvent): Promise<void> {
  const { trx, orgNumber, instant } = transaction;
  const { emails, ownerId, ...said } = event;
  const found = await findContactsByEmail(trx, orgNumber, emails);
  const [mainContact, ...contactIds] = new Set(found.values());
  if (mainContact === undefined) return;
  const others = await findRecords(trx, contacts, orgNumber, contactIds);
  await logInteraction(trx, {
    ...said,
    orgNumber,
    createdBy: String(ownerId ?? transaction.createdBy),
    instant,
    direction: 'EVENT',
    isDated: true,
    mainContact,
    contactIds,
    companyIds: others.flatMap(({ company_id }) => (company_id === null ? [] : [String(company_id)])),
    secondaryId: null,
    visibleTo: null,
  });
}
