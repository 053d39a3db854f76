// What every ingest does with an entry: finds its record by external id, writes what is given, counts what became of it.

import type { Data, JsonValue } from '../declare/json.ts';
import { fromColumns, initialData, type Resource, type Row, toColumns } from '../declare/resource.ts';
import { caselessKey } from '../declare/text.ts';
import { getResource } from '../resources/index.ts';
import { type Db, type RecordRow, tableOf } from '../schema.ts';
import type { Store } from '../store.ts';
import { findContactsByEmail } from '../tables/contact-emails.ts';
import { logInteraction } from '../tables/interactions.ts';
import { findRecord, insertRecord, updateRecord } from '../tables/records.ts';

export interface IngestEntry {
  /** Line of the file, for faults. */
  line: number;
  /** The fields that are given, `external_id` among them. */
  data: Data;
}

export interface IngestOptions {
  orgId: string;
  /** The user who owns what no organizer or meeting gives an owner. */
  ownerId: string | null;
  /** Unix milliseconds. */
  now: number;
  /** Told after every transaction how many entries are behind it. */
  onProgress?: (done: number) => void;
}

export type Outcome = 'created' | 'updated' | 'unchanged' | 'cancelled';

export interface IngestReport extends Record<Outcome, number> {
  faults: { line: number; message: string }[];
}

/** An entry that cannot be stored as it is; the message is for the operator. */
export class IngestFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'IngestFault';
  }
}

const ENTRIES_PER_TRANSACTION = 100;

/** One run: its options, its report, and the users it has looked up. */
export class IngestRun {
  readonly report: IngestReport = { created: 0, updated: 0, unchanged: 0, cancelled: 0, faults: [] };
  readonly options: IngestOptions;
  readonly #userIds = new Map<string, string | null>();

  constructor(options: IngestOptions) {
    this.options = options;
  }

  /** Writes the items in transactions of about a hundred entries, so that a server beside it is not held up. */
  async writeAll<T>(
    store: Store,
    items: readonly T[],
    countOf: (item: T) => number,
    write: (trx: Db, item: T) => Promise<void>,
  ): Promise<IngestReport> {
    let done = 0;
    for (let from = 0; from < items.length; ) {
      let count = 0;
      let to = from;
      for (; to < items.length && count < ENTRIES_PER_TRANSACTION; to += 1) count += countOf(items[to] as T);
      const batch = items.slice(from, to);
      await store.write(async (trx) => {
        for (const item of batch) await write(trx, item);
      });
      done += count;
      from = to;
      this.options.onProgress?.(done);
    }
    return this.report;
  }

  /** Counts what became of an entry, or tells its fault. */
  async settle(line: number, write: () => Promise<Outcome>): Promise<void> {
    try {
      this.report[await write()] += 1;
    } catch (error) {
      if (!(error instanceof IngestFault)) throw error;
      this.report.faults.push({ line, message: error.message });
    }
  }

  /** The id of the user with that email, if there is one. */
  async findUserId(trx: Db, email: string): Promise<string | null> {
    const key = caselessKey(email);
    let id = this.#userIds.get(key);
    if (id === undefined) {
      const query = trx.selectFrom('users').select('id').where('org_id', '=', this.options.orgId);
      id = (await query.where('email_key', '=', key).executeTakeFirst())?.id ?? null;
      this.#userIds.set(key, id);
    }
    return id;
  }
}

/** The stored records of those external ids. */
export async function findByExternalIds(
  db: Db,
  resource: Resource,
  orgId: string,
  externalIds: readonly string[],
): Promise<Map<string, RecordRow>> {
  const rows = await db
    .selectFrom(tableOf(resource))
    .selectAll()
    .where('org_id', '=', orgId)
    .where('external_id', 'in', [...externalIds])
    .execute();
  return new Map(rows.map((row) => [String(row.external_id), row as RecordRow]));
}

/** The meeting of that id or external id. */
export async function findMeeting(db: Db, orgId: string, id: string): Promise<RecordRow | undefined> {
  const meetings = getResource('meetings');
  const byId = await findRecord(db, meetings, { orgId, id });
  return byId ?? (await findByExternalIds(db, meetings, orgId, [id])).get(id);
}

/** Who owns the record: the organizer who is a user, else the run's owner; undefined to leave it as it is. */
export async function ownerOf(
  trx: Db,
  run: IngestRun,
  data: Data,
  stored: RecordRow | undefined,
): Promise<string | undefined> {
  if (typeof data.owner_id === 'string') return data.owner_id;
  const told =
    data.organizer ?? (typeof stored?.organizer === 'string' ? JSON.parse(stored.organizer) : null);
  const email = emailOf(told as JsonValue);
  const userId = email === null ? null : await run.findUserId(trx, email);
  return userId ?? run.options.ownerId ?? undefined;
}

/** The email of a person as entries and records hold them. */
export function emailOf(person: JsonValue | undefined): string | null {
  if (typeof person === 'string') return person;
  if (typeof person !== 'object' || person === null || Array.isArray(person)) return null;
  return typeof person.email === 'string' ? person.email : null;
}

/**
 * Creates the record or changes what is given and differs.
 * @returns the row as it then stands
 * @throws IngestFault if the data names a record that does not exist
 */
export async function upsert(
  trx: Db,
  run: IngestRun,
  resource: Resource,
  data: Data,
  stored: RecordRow | undefined,
): Promise<{ row: RecordRow; outcome: Outcome }> {
  const { orgId, now } = run.options;
  await assertReferences(trx, resource, orgId, data, stored);
  if (stored === undefined) {
    const row: RecordRow = {
      ...toColumns(resource.fields, { ...initialData(resource), ...data }),
      org_id: orgId,
      id: Bun.randomUUIDv7(),
      created_by: typeof data.owner_id === 'string' ? data.owner_id : orgId,
      created_at: now,
      updated_at: now,
    };
    await insertRecord(trx, resource, row);
    return { row, outcome: 'created' };
  }
  const changed = Object.entries(toColumns(resource.fields, data)).filter(
    ([name, value]) => stored[name] !== value,
  );
  if (changed.length === 0) return { row: stored, outcome: 'unchanged' };
  const columns: Row = { ...Object.fromEntries(changed), updated_at: now };
  await updateRecord(trx, resource, { orgId, id: stored.id }, columns);
  const row = { ...stored, ...columns } as RecordRow;
  const isCancelled = row.status === 'cancelled' && stored.status !== 'cancelled';
  return { row, outcome: isCancelled ? 'cancelled' : 'updated' };
}

async function assertReferences(
  trx: Db,
  resource: Resource,
  orgId: string,
  data: Data,
  stored: RecordRow | undefined,
): Promise<void> {
  for (const [name, value] of Object.entries(data)) {
    const target = resource.fields[name]?.references;
    if (target === undefined || typeof value !== 'string' || stored?.[name] === value) continue;
    const table = tableOf({ name: target });
    const query = trx.selectFrom(table).select('id').where('org_id', '=', orgId).where('id', '=', value);
    if ((await query.executeTakeFirst()) === undefined) {
      throw new IngestFault(`${name}: the organization has no ${target} with the id ${value}`);
    }
  }
}

/** The record that a row holds. */
export function recordIn(resource: Resource, row: RecordRow): Data {
  return fromColumns(resource.fields, row);
}

/** Logs that a meeting or booking happened to those of the people who are contacts; nothing if none of them is. */
export async function logEvent(
  trx: Db,
  run: IngestRun,
  event: {
    type: string;
    title: string;
    summary: string | null;
    /** Unix milliseconds. */
    date: number;
    externalId: string;
    emails: readonly string[];
    ownerId: string | null;
  },
): Promise<void> {
  const { orgId, now } = run.options;
  const found = await findContactsByEmail(trx, orgId, event.emails);
  const [mainContact, ...otherContacts] = new Set(found.values());
  if (mainContact === undefined) return;
  await logInteraction(trx, {
    orgId,
    createdBy: event.ownerId ?? orgId,
    now,
    type: event.type,
    direction: 'EVENT',
    title: event.title,
    summary: event.summary,
    interactionDate: event.date,
    isDated: true,
    mainContact,
    otherContacts,
    primaryId: event.externalId,
    secondaryId: null,
    visibleTo: null,
  });
}
