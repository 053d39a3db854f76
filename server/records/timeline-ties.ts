// Whether what shows on a timeline still belongs there: what was deleted or unlinked stays in the tables, for an undelete.

import type { Data } from '../../db/model/json.ts';
import { getLinkKind } from '../../db/model/resources/link-kinds.ts';
import { caselessKey } from '../../db/model/text.ts';
import type { TimelineKind } from '../../db/model/timelines.ts';
import { findLinks } from '../../db/records/link-batches.ts';
import type { Tie } from '../../db/records/ties.ts';
import { emailsOf } from '../../db/tables/contact-emails.ts';
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

/** An entry as a row has it, before its records are read. */
export interface PossibleTie {
  kind: TimelineKind;
  recordId: string;
  /** The resource and ID of the record with the timeline. */
  on: string;
  endId: string;
}

/**
 * The links that could tie records to timelines, as far as they exist. They are asked for together with the records, though
 * some of these turn out to refer to the timeline themselves: on a server, each way there takes longer.
 */
export async function findTies(
  { db, access: { orgNumber } }: Reader,
  possible: readonly PossibleTie[],
): Promise<ReadonlySet<string>> {
  const byName = Map.groupBy(possible, linkOf);
  const find = async ([name, some]: [string | undefined, PossibleTie[]]) => {
    if (name === undefined) return [];
    const pairs = some.map(({ recordId, endId }) => ({ parent_id: recordId, child_id: endId }));
    return (await findLinks(db, getLinkKind(name), orgNumber, pairs)).map(nameOf);
  };
  return new Set((await Promise.all([...byName].map(find))).flat());
}

/** Whether a record still shows there, with what `findTies` found. */
export function isTied(tie: TimelineTie, linked: ReadonlySet<string>): boolean {
  const { record, end } = tie;
  const isLinked = () =>
    linked.has(nameOf({ parent_id: String(record.id), child_id: String(end.record.id) }));
  return isTimely(tie) && (isReferred(tie) || isLinked());
}

const nameOf = ({ parent_id, child_id }: Tie): string => `${parent_id} ${child_id}`;

// The kind of link that can tie a record of this kind to a timeline; a deal is always on its own.
function linkOf({ kind, on, recordId, endId }: PossibleTie): string | undefined {
  if (kind === 'note') return 'notes.records';
  if ((kind !== 'deal' && kind !== 'stage') || recordId === endId) return undefined;
  return `deals.${on}`;
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
