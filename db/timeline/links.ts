// What links of notes and deals, and the people in interactions, show on timelines.

import { sql } from 'kysely';
import { type Trx, tableOf } from '../engine/schema.ts';
import { statement, written } from '../engine/statement.ts';
import { DIRECTLY, storedKind, TIMELINE_COLUMNS } from '../engine/timeline-row.ts';
import { childOf } from '../model/links.ts';
import type { Row } from '../model/resource.ts';
import { contacts } from '../model/resources/contacts.ts';
import { deals } from '../model/resources/deals.ts';
import type { LinkKind } from '../model/resources/link-kinds.ts';
import { type EntryKind, hasTimeline } from '../model/timelines.ts';
import { textBytes } from '../tables/id-bytes.ts';
import type { KindLinkRow } from '../tables/link-lists.ts';
import { instantOfId } from '../tables/record-id.ts';
import { addEntries, addMissingEntries, removeEntries, type Subject } from './entries.ts';
import { listEmployers } from './subjects.ts';

/** What shows on the other end of links, by the resource of the parent. */
export const LINKED: Readonly<Record<string, EntryKind>> = { notes: 'note', deals: 'deal' };

/** Where links are written. */
interface Writing {
  orgNumber: number;
  /** The sequence number of the change that restores them; undefined for new ones. */
  cause?: number;
  /** A record at an end of the links, by resource and ID. */
  end(resource: string, id: string): Row | undefined;
}

/** A link whose parent shows on the timeline of its child. */
interface ShownLink {
  record: string;
  /** When the parent was created, Unix milliseconds. */
  at: number;
  subject: Subject;
}

/** Shows the parents of new or restored links on the timelines of the children. */
export async function showLinked(
  trx: Trx,
  kind: LinkKind,
  writing: Writing,
  rows: readonly KindLinkRow[],
): Promise<void> {
  const shown = LINKED[kind.parent.name];
  if (shown === undefined) return;
  const { orgNumber, cause, end } = writing;
  const links = linkedOnly(kind, writing, rows);
  const entries = links.map((link) => ({ ...link, kind: shown, sequence: 0 }));
  if (cause !== undefined) return addMissingEntries(trx, orgNumber, entries);
  // What is left there was linked before a delete.
  await removeEntries(trx, orgNumber, links);
  const companies = new Map(links.map(({ subject: { on, id } }) => [id, end(on, id)?.company_id ?? null]));
  await addEntries(trx, orgNumber, entries, companies);
}

/** Removes the parents of links that were removed from the timelines of the children. */
export async function hideUnlinked(
  trx: Trx,
  kind: LinkKind,
  writing: Writing,
  rows: readonly KindLinkRow[],
): Promise<void> {
  if (!(kind.parent.name in LINKED)) return;
  await removeEntries(trx, writing.orgNumber, linkedOnly(kind, writing, rows));
}

// Those whose parents do not refer to their children besides, as deals can.
function linkedOnly({ link, parent }: LinkKind, { end }: Writing, rows: readonly KindLinkRow[]): ShownLink[] {
  return rows.flatMap((row) => {
    const record = end(parent.name, row.parent_id);
    const on = childOf(link, { link: row, parent: record }) ?? '';
    const isNamed =
      parent === deals && [record?.company_id, record?.point_of_contact_id].includes(row.child_id);
    if (isNamed || !hasTimeline(on)) return [];
    const at = Number(record?.created_at ?? instantOfId(row.parent_id));
    return [{ record: row.parent_id, at, subject: { on, id: row.child_id } }];
  });
}

/** An interaction: its ID, and when it happened, in Unix milliseconds. */
interface Happening {
  orgNumber: number;
  id: string;
  date: number;
}

/** Who is involved in an interaction; the main contact can be among the contacts, and its company among the companies. */
interface Involved {
  mainContact: string;
  /** Whether the main contact is created with the interaction, and so has no company. */
  isNew: boolean;
  contactIds: readonly string[];
  companyIds: readonly string[];
}

// With a contact that is known, this is mostly all: both rows by one statement, which finds the company by itself.
const withMainContact = statement<never>((db, param) => {
  const company = sql`select ${db.engine.uuidBytes(sql.ref('company_id'))} from ${sql.table(tableOf(contacts))}
    where org_id = ${param('org')} and id = ${param('contact')} and company_id is not null`;
  const row = {
    ...{ org_id: sql`cast(${param('org')} as integer)`, subject: sql.ref('subject') },
    ...{ kind: sql.lit(storedKind('interaction', false)), at: sql`cast(${param('at')} as bigint)` },
    ...{ record: param('record'), sequence: sql.lit(0), via: param('directly'), detail: sql`null` },
  };
  const into = sql.join(TIMELINE_COLUMNS.map((column) => sql.ref(column)));
  const values = sql.join(TIMELINE_COLUMNS.map((column) => row[column]));
  return written(
    db,
    sql`insert into timeline_entries (${into}) select ${values}
      from (select ${param('subject')} as subject union all ${company}) as shown where true on conflict do nothing`,
  );
});

/** Shows an interaction on the timelines of everyone who is involved, and of the companies of the contacts. */
export async function showInteraction(
  trx: Trx,
  { orgNumber, id: record, date: at }: Happening,
  { mainContact, isNew, contactIds, companyIds }: Involved,
): Promise<void> {
  if (!isNew) {
    const ids = { contact: mainContact, subject: textBytes(mainContact), record: textBytes(record) };
    await withMainContact(trx, { org: orgNumber, at, directly: DIRECTLY, ...ids });
  }
  const others = new Set(contactIds);
  others.delete(mainContact);
  const employers = await listEmployers(trx, orgNumber, [...others]);
  if (isNew) others.add(mainContact);
  const subjects: Subject[] = [
    ...[...others].map((id) => ({ on: 'contacts', id }) as const),
    ...[...new Set(companyIds)].map((id) => ({ on: 'companies', id }) as const),
  ];
  const entries = subjects.map(
    (subject) => ({ subject, kind: 'interaction', at, record, sequence: 0 }) as const,
  );
  const companies = new Map(employers.map(({ id, company_id }) => [id, company_id]));
  await addEntries(trx, orgNumber, entries, companies);
}
