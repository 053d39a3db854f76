// Entries of timelines: added with those on the companies that contacts and deals have at that moment, moved, and removed.

import { type RawBuilder, sql } from 'kysely';
import type { Trx } from '../engine/schema.ts';
import { type Param, statement } from '../engine/statement.ts';
import { insertTimelineRows } from '../engine/timeline-insert.ts';
import { CHANGES_FROM, DIRECTLY, storedKind, type TimelineRow } from '../engine/timeline-row.ts';
import type { ColumnValue } from '../model/fields.ts';
import type { EntryKind, TimelineResource } from '../model/timelines.ts';
import { findContactsByEmail } from '../tables/contact-emails.ts';
import { textBytes } from '../tables/id-bytes.ts';
import { listDealCompanies, listEmployers } from './subjects.ts';

/** What entries show on: a record, or an address, in lower case, with the contact that has it. */
export interface Subject {
  on: TimelineResource | 'addresses';
  id: string;
}

/** An entry on one timeline. */
export interface NewEntry {
  subject: Subject;
  kind: EntryKind;
  /** Unix milliseconds. */
  at: number;
  /** ID of the record that it is about. */
  record: string;
  /** Tells entries of one record apart. */
  sequence: number;
  /** JSON. */
  detail?: string | null;
}

const ADDRESS_BYTES = 16;

/** A subject as rows contain it. */
export function subjectBytes({ on, id }: Subject): Uint8Array {
  if (on !== 'addresses') return textBytes(id);
  return new Bun.CryptoHasher('sha256').update(id).digest().subarray(0, ADDRESS_BYTES);
}

/**
 * Adds entries; what shows on a contact or deal shows on its company as well.
 * @param known the companies of all contacts and deals that entries are on, by the IDs of these, if they are known
 */
export async function addEntries(
  trx: Trx,
  orgNumber: number,
  entries: readonly NewEntry[],
  known?: ReadonlyMap<string, ColumnValue>,
): Promise<void> {
  if (entries.length === 0) return;
  const companies = await companiesOf(trx, orgNumber, entries.filter(showsOnCompanies), known);
  const rows: TimelineRow[] = [];
  // Those involved in an interaction stay the same.
  const fixed = new Set<string>();
  if (companies.size > 0)
    for (const entry of entries) if (entry.kind === 'interaction') fixed.add(placeOf(entry));
  for (const entry of entries) {
    const through = showsOnCompanies(entry) ? companies.get(nameOf(entry.subject)) : undefined;
    rows.push(directRow(orgNumber, entry));
    if (through === undefined) continue;
    const subject: Subject = { on: 'companies', id: through.company };
    if (fixed.has(placeOf({ ...entry, subject }))) continue;
    const row = directRow(orgNumber, { ...entry, subject });
    rows.push({ ...row, kind: storedKind(entry.kind, true), via: textBytes(through.via) });
  }
  await insertTimelineRows(trx, rows);
}

// A deal itself shows on the company that it has, and on no former one.
const showsOnCompanies = ({ kind, subject: { on } }: NewEntry): boolean =>
  on !== 'companies' && (kind !== 'deal' || on !== 'deals');

const nameOf = ({ on, id }: Subject): string => `${on} ${id}`;
const placeOf = ({ subject, record }: NewEntry): string => `${nameOf(subject)} ${record}`;

function directRow(
  org_id: number,
  { subject, kind, at, record, sequence, detail = null }: NewEntry,
): TimelineRow {
  const place = { org_id, subject: subjectBytes(subject), kind: storedKind(kind, false), at };
  return { ...place, record: textBytes(record), sequence, via: DIRECTLY, detail };
}

/** Through which record something shows on a company. */
interface Through {
  company: string;
  via: string;
}

async function companiesOf(
  trx: Trx,
  orgNumber: number,
  entries: readonly NewEntry[],
  known?: ReadonlyMap<string, ColumnValue>,
): Promise<ReadonlyMap<string, Through>> {
  const found = new Map<string, Through>();
  const note = (on: Subject['on'], id: string, company: ColumnValue | undefined) => {
    if (typeof company === 'string') found.set(nameOf({ on, id }), { company, via: id });
  };
  if (known !== undefined) {
    for (const { subject } of entries) note(subject.on, subject.id, known.get(subject.id));
    return found;
  }
  const ids = (on: Subject['on']) => [
    ...new Set(entries.flatMap(({ subject }) => (subject.on === on ? [subject.id] : []))),
  ];
  const owners = await findContactsByEmail(trx, orgNumber, ids('addresses'));
  const [employed, ofDeals] = await Promise.all([
    listEmployers(trx, orgNumber, [...new Set([...ids('contacts'), ...owners.values()])]),
    listDealCompanies(trx, orgNumber, ids('deals')),
  ]);
  for (const { id, company_id } of employed) note('contacts', id, company_id);
  for (const { id, company_id } of ofDeals) note('deals', id, company_id);
  for (const [address, contact] of owners) {
    const company = found.get(nameOf({ on: 'contacts', id: contact }));
    if (company !== undefined) found.set(nameOf({ on: 'addresses', id: address }), company);
  }
  return found;
}

// As the index of records has it.
const isAbout = (isRecord: RawBuilder<unknown>, param: Param) =>
  sql<boolean>`org_id = ${param('org')} and ${isRecord} and kind < ${sql.lit(CHANGES_FROM)}`;

const existing = statement<{ kind: number }>((db, param) =>
  db
    .selectFrom('timeline_entries')
    .select('kind')
    .where('org_id', '=', param('org'))
    .where('subject', '=', param('subject'))
    .where('kind', '=', param('kind'))
    .where('at', '=', param('at'))
    .where('record', '=', param('record'))
    .where('sequence', '=', param('sequence')),
);

/** Adds those entries that do not exist; others stay on the companies on which they were. */
export async function addMissingEntries(
  trx: Trx,
  orgNumber: number,
  entries: readonly NewEntry[],
): Promise<void> {
  const found = await Promise.all(
    entries.map((entry) => {
      const { subject, kind, at, record, sequence } = directRow(orgNumber, entry);
      return existing(trx, { org: orgNumber, subject, kind, at, record, sequence });
    }),
  );
  await addEntries(
    trx,
    orgNumber,
    entries.filter((_, index) => found[index]?.length === 0),
  );
}

// Each pair is looked up by its value: compared with each other, those of a record with thousands of others take a minute.
const removal = statement<never>((db, param) => {
  const pairs = db.engine.bytePairs(param('pairs'));
  const isGiven = (subject: string) =>
    sql`(record, ${sql.ref(subject)}) in (select first, second from ${pairs} as pair)`;
  const isOn = sql<boolean>`(${isGiven('subject')} and via = ${param('directly')} or ${isGiven('via')})`;
  return db
    .deleteFrom('timeline_entries')
    .where(isAbout(db.engine.isIn(sql.ref('record'), sql`(select first from ${pairs} as pair)`), param))
    .where(isOn);
});

/** A record, by its ID, that no longer shows on a subject. */
export interface Hidden {
  record: string;
  subject: Subject;
}

/** Removes entries from subjects, and from the companies on which they show through these. */
export async function removeEntries(trx: Trx, orgNumber: number, hidden: readonly Hidden[]): Promise<void> {
  if (hidden.length === 0) return;
  const pairs = hidden.map(({ record, subject }) => [textBytes(record), subjectBytes(subject)]);
  const hex = JSON.stringify(pairs.map((pair) => pair.map((bytes) => bytes.toHex())));
  await removal(trx, { org: orgNumber, pairs: hex, directly: DIRECTLY });
}

const removalOfSequence = statement<never>((db, param) =>
  db
    .deleteFrom('timeline_entries')
    .where(isAbout(sql`record = ${param('record')}`, param))
    .where('sequence', '=', param('sequence')),
);

/** Removes the entries about a record with a sequence number. */
export async function removeSequence(
  trx: Trx,
  orgNumber: number,
  record: string,
  sequence: number,
): Promise<void> {
  await removalOfSequence(trx, { org: orgNumber, record: textBytes(record), sequence });
}

const moving = statement<never>((db, param) =>
  db
    .updateTable('timeline_entries')
    .set({ at: param('after') })
    .where(isAbout(sql`record = ${param('record')}`, param))
    .where('at', '=', param('before')),
);

/** Moves the entries about a record to another instant, in Unix milliseconds. */
export async function moveEntries(
  trx: Trx,
  orgNumber: number,
  record: string,
  { before, after }: { before: number; after: number },
): Promise<void> {
  await moving(trx, { org: orgNumber, record: textBytes(record), before, after });
}
