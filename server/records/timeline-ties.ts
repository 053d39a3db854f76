// Whether what shows on a timeline still belongs there: what was deleted or unlinked stays in the tables, for an undelete.

import type { Data } from '../../db/model/json.ts';
import { getLinkKind } from '../../db/model/resources/link-kinds.ts';
import { caselessKey } from '../../db/model/text.ts';
import type { TimelineKind } from '../../db/model/timelines.ts';
import { emailsOf } from '../../db/tables/contact-emails.ts';
import { findLinks } from '../../db/tables/link-batches.ts';
import type { Tie } from '../../db/tables/ties.ts';
import type { Reader } from './rules.ts';

/** A record with a timeline, as shown. */
export interface TimelineEnd {
  /** Its resource. */
  on: string;
  record: Data;
}

/** A record that shows on another one's timeline. */
export interface TimelineTie {
  kind: TimelineKind;
  at: number;
  sequence: number;
  record: Data;
  end: TimelineEnd;
}

/** Returns a test whether records still show there. */
export async function tieTest(
  reader: Reader,
  ties: readonly TimelineTie[],
): Promise<(tie: TimelineTie) => boolean> {
  const linked = new Set<string>();
  const byKind = Map.groupBy(ties, linkOf);
  const find = async ([name, some]: [string | undefined, TimelineTie[]]) => {
    if (name === undefined) return;
    const pairs = some.map(({ record, end }) => ({
      parent_id: String(record.id),
      child_id: String(end.record.id),
    }));
    for (const row of await findLinks(reader.db, getLinkKind(name), reader.access.orgNumber, pairs))
      linked.add(nameOf(row));
  };
  await Promise.all([...byKind].map(find));
  const isLinked = ({ record, end }: TimelineTie) =>
    linked.has(nameOf({ parent_id: String(record.id), child_id: String(end.record.id) }));
  return (tie) => isTimely(tie) && (isReferred(tie) || isLinked(tie));
}

const nameOf = ({ parent_id, child_id }: Tie): string => `${parent_id} ${child_id}`;

// The kind of link that can tie the record to the timeline, if it does not refer to it.
function linkOf(tie: TimelineTie): string | undefined {
  const { kind, end } = tie;
  if (kind === 'note') return 'notes.records';
  if ((kind !== 'deal' && kind !== 'stage') || isReferred(tie)) return undefined;
  return `deals.${end.on}`;
}

const FIELDS: Readonly<Partial<Record<TimelineKind, Readonly<Record<string, string>>>>> = {
  task: { contacts: 'person_id', companies: 'company_id', deals: 'deal_id' },
  deal: { contacts: 'point_of_contact_id', companies: 'company_id', deals: 'id' },
  stage: { contacts: 'point_of_contact_id', companies: 'company_id', deals: 'id' },
  meeting: { companies: 'company_id', deals: 'deal_id' },
  interaction: { contacts: 'contact_ids', companies: 'company_ids' },
};

function isReferred({ kind, record, end }: TimelineTie): boolean {
  const { id } = end.record;
  // Of the record itself.
  if (kind === 'change') return record.id === id;
  const value = record[FIELDS[kind]?.[end.on] ?? ''];
  if (Array.isArray(value) ? value.includes(id ?? null) : value === id) return true;
  return (kind === 'meeting' || kind === 'booking') && end.on === 'contacts' && isInvited(record, end.record);
}

function isInvited({ organizer, attendees, attendee, guests }: Data, contact: Data): boolean {
  const people = emailsOf([organizer ?? null, attendees ?? null, attendee ?? null, guests ?? null]);
  const invited = new Set(people.map(caselessKey));
  return addressesOf(contact).some((address) => invited.has(address));
}

/** The addresses of a contact, in lower case. */
export function addressesOf({ email, alt_emails: others }: Data): string[] {
  return emailsOf([email ?? null, others ?? null]).map(caselessKey);
}

// A task that was reopened since has not ended then; a meeting that was moved while it was not shown has another start.
function isTimely({ kind, at, sequence, record }: TimelineTie): boolean {
  if (kind === 'task') return sequence === 0 || instantIn(record.done_at) === at;
  if (kind !== 'meeting' && kind !== 'booking') return true;
  return (record.start_time ?? instantIn(record.created_at)) === at;
}

function instantIn(value: unknown): number | null {
  return typeof value === 'string' ? Date.parse(value) : null;
}
