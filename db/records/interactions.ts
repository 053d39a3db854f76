// Logs an interaction once: detects duplicates, and links everyone involved.

import { takeSequence } from '../engine/change-log.ts';
import { type Db, type RecordTrx, type Trx, tableOf } from '../engine/schema.ts';
import { lookup, type Param, statement } from '../engine/statement.ts';
import type { Data } from '../model/json.ts';
import { contacts } from '../model/resources/contacts.ts';
import { interactions } from '../model/resources/interactions.ts';
import { textKey } from '../model/text.ts';
import { keyExpression } from '../tables/columns.ts';
import { involveCompanies, involveCompanyOf, involveContacts } from '../tables/involved-records.ts';
import { showInteraction } from '../timeline/links.ts';
import { insertReservedRecord, reserveQuota } from './records.ts';

export interface NewInteraction {
  orgNumber: number;
  createdBy: string;
  /** When it is written, in Unix milliseconds; not called for a duplicate. */
  instant(): number | Promise<number>;
  type: string;
  direction: string;
  title: string;
  summary: string | null;
  /** Unix milliseconds. */
  interactionDate: number;
  /** Whether the date was sent, and not taken from the clock: only then does it identify duplicates. */
  isDated: boolean;
  /** The contact's ID, or a new contact without a company, which is created unless this is a duplicate. */
  mainContact: string | NewContact;
  /** Further contacts involved. The main contact and repeats are ignored. */
  contactIds: readonly string[];
  /** Further companies involved. The company of the main contact and repeats are ignored. */
  companyIds: readonly string[];
  primaryId: string | null;
  secondaryId: string | null;
  /** The user whose interactions are searched for duplicates; null for all of the organization. */
  visibleTo: string | null;
  /** Whether it is known not to be a duplicate. */
  isFirst?: boolean;
}

export interface NewContact {
  data: Data;
  /**
   * Creates the contact, for which room is already taken, and returns its ID.
   * @param cause the sequence number of the interaction's change
   */
  put(cause: number): Promise<string>;
}

/**
 * Writes an interaction unless it is a duplicate; returns the ID of the new or existing one.
 * @throws QuotaError
 */
export async function logInteraction(
  trx: RecordTrx,
  input: NewInteraction,
): Promise<{ id: string; isDuplicate: boolean }> {
  const existing = input.isFirst === true ? undefined : await findDuplicate(trx, input);
  if (existing !== undefined) return { id: existing, isDuplicate: true };
  const { orgNumber, createdBy, interactionDate: date, mainContact: known } = input;
  const now = await input.instant();
  const said = {
    type: input.type,
    direction: input.direction,
    title: input.title,
    summary: input.summary,
    interaction_date: input.interactionDate,
    primary_id: input.primaryId,
    secondary_id: input.secondaryId,
  };
  const contact = typeof known === 'string' ? [] : [{ resource: contacts, data: known.data }];
  await reserveQuota(trx, orgNumber, [...contact, { resource: interactions, data: said }]);
  // The contact is stored first, but follows the interaction in the log.
  const sequence = await takeSequence(trx, { orgNumber, at: now });
  const mainContact = typeof known === 'string' ? known : await known.put(sequence);
  const data = { ...said, main_contact: mainContact };
  const record = { orgNumber, createdBy, now, data, sequence };
  const { id } = await insertReservedRecord(trx, interactions, record);
  const moment = { orgNumber, interaction: id, date, now };
  await involveContacts(trx, [mainContact, ...input.contactIds], moment);
  await involveCompanies(trx, input.companyIds, moment);
  // A new contact has no company.
  const isNew = mainContact !== known;
  if (!isNew) await involveCompanyOf(trx, mainContact, moment);
  await showInteraction(trx, { orgNumber, id, date }, { ...input, mainContact, isNew });
  return { id, isDuplicate: false };
}

const byOrigin = statement<{ id: string; created_by: string }>((db, param) =>
  duplicatesOf(db, param)
    .where(keyExpression('primary_id'), '=', param('primary_key'))
    .where('secondary_id', 'is not distinct from', param('secondary_id')),
);

const byContent = statement<{ id: string; created_by: string }>((db, param) =>
  duplicatesOf(db, param)
    .where('main_contact', '=', param('contact'))
    .where('direction', '=', param('direction'))
    .where('title', '=', param('title'))
    .where('interaction_date', '=', param('date')),
);

function duplicatesOf(db: Db, param: Param) {
  return db
    .selectFrom(tableOf(interactions))
    .select(['id', 'created_by'])
    .$castTo<{ id: string; created_by: string }>()
    .where('org_id', '=', param('org'))
    .where('type', '=', param('type'));
}

/** The ID of the interaction that this one duplicates. */
export async function findDuplicate(trx: Trx, input: NewInteraction): Promise<string | undefined> {
  if (input.primaryId === null && !input.isDated) return undefined;
  const found = await (input.primaryId === null ? byContent : byOrigin)(trx, {
    org: input.orgNumber,
    type: input.type,
    primary_key: input.primaryId === null ? null : textKey(input.primaryId),
    secondary_id: input.secondaryId,
    contact: typeof input.mainContact === 'string' ? input.mainContact : null,
    direction: input.direction,
    title: input.title,
    date: input.interactionDate,
  });
  const visible = found.filter((row) => input.visibleTo === null || row.created_by === input.visibleTo);
  // The oldest; sorting in SQL would make the planner scan all interactions in that order.
  return visible.map((row) => row.id).sort()[0];
}

const origins = lookup<{ key: string }>((db, param, isGiven) =>
  db
    .selectFrom(tableOf(interactions))
    .select(keyExpression('primary_id').as('key'))
    .where('org_id', '=', param('org'))
    .where(isGiven(keyExpression('primary_id'))),
);

/** Finds which primary IDs, given by their keys, interactions have. An interaction with another one is not a duplicate. */
export async function findOrigins(
  db: Db,
  orgNumber: number,
  primaryIds: readonly string[],
): Promise<Set<string>> {
  const found = await origins(db, orgNumber, primaryIds.map(textKey));
  return new Set(found.map(({ key }) => key));
}
