// What links of notes and deals, and the people in interactions, show on timelines.

import type { Trx } from '../engine/schema.ts';
import { childOf } from '../model/links.ts';
import type { Row } from '../model/resource.ts';
import { deals } from '../model/resources/deals.ts';
import type { LinkKind } from '../model/resources/link-kinds.ts';
import { type EntryKind, hasTimeline } from '../model/timelines.ts';
import type { KindLinkRow } from './link-lists.ts';
import { instantOfId } from './record-id.ts';
import { addEntries, addMissingEntries, removeEntries, type Subject } from './timeline-entries.ts';
import { listEmployers } from './timeline-subjects.ts';

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

/** Shows an interaction on the timelines of everyone who is involved, save the company of the main contact. */
export async function showInteraction(
  trx: Trx,
  { orgNumber, id: record, date: at }: Happening,
  people: { mainContact: string; others: readonly string[] },
  companyIds: readonly string[],
): Promise<void> {
  const others = new Set(people.others);
  others.delete(people.mainContact);
  const employers = await listEmployers(trx, orgNumber, [...others]);
  const subjects: Subject[] = [
    ...[people.mainContact, ...others].map((id) => ({ on: 'contacts', id }) as const),
    ...[...new Set(companyIds)].map((id) => ({ on: 'companies', id }) as const),
  ];
  const entries = subjects.map(
    (subject) => ({ subject, kind: 'interaction', at, record, sequence: 0 }) as const,
  );
  const companies = new Map(employers.map(({ id, company_id }) => [id, company_id]));
  await addEntries(trx, orgNumber, entries, companies);
}
