// Interactions: written once, about a contact named by ID or email; a duplicate is not written again.

import { contacts } from '../../db/model/resources/contacts.ts';
import { CONTACT_UNKNOWN } from '../../db/model/resources/interactions.ts';
import { caselessKey, textKey } from '../../db/model/text.ts';
import { findOrigins, logInteraction, type NewContact } from '../../db/records/interactions.ts';
import { insertReservedRecord } from '../../db/records/records.ts';
import { emailsOf, findContactsByEmail, replaceContactEmails } from '../../db/tables/contact-emails.ts';
import { listInvolved } from '../../db/tables/involved-records.ts';
import { hasScope, principalOf } from '../access.ts';
import { oncePerBatch } from './lookups.ts';
import { findVisibleIds } from './references.ts';
import type { Change, Rules } from './rules.ts';

export const interactionRules: Rules = {
  async prepare(change) {
    const { input, next, now } = change;
    next.interaction_date ??= now;
    if (typeof input.main_contact_email === 'string' && typeof input.main_contact !== 'string')
      await checkEmail(change, input.main_contact_email);
  },
  async create(change) {
    const { trx, access, now, next } = change;
    const known = await knownContact(change);
    const [contactIds, companyIds] = [listOf(change.input.contact_ids), listOf(change.input.company_ids)];
    const isFirst = await isFirstOfOrigin(change);
    next.main_contact = known;
    const { id, isDuplicate } = await logInteraction(trx, {
      orgNumber: access.orgNumber,
      createdBy: principalOf(access),
      instant: () => now,
      type: String(next.type),
      direction: String(next.direction),
      title: String(next.title),
      summary: textOf(next.summary),
      interactionDate: Number(next.interaction_date),
      isDated: typeof change.input.interaction_date === 'number',
      primaryId: textOf(next.primary_id),
      secondaryId: textOf(next.secondary_id),
      visibleTo: access.userId,
      isFirst,
      mainContact: known ?? newContact(change),
      contactIds,
      companyIds,
    });
    // A new contact has no company.
    const isComplete = !isDuplicate && known === null && contactIds.length + companyIds.length === 0;
    if (isComplete) Object.assign(next, { contact_ids: [next.main_contact], company_ids: [] });
    return { id, isNew: !isDuplicate, isComplete, extra: { is_duplicate: isDuplicate } };
  },
  async findComputed({ db, access }, ids) {
    const { contactIds, companyIds } = await listInvolved(db, access.orgNumber, ids);
    return (record) => {
      record.contact_ids = contactIds.get(String(record.id)) ?? [];
      record.company_ids = companyIds.get(String(record.id)) ?? [];
    };
  },
};

// Owners of the emails, and which of them the key can see; contacts that the batch creates are added.
const addresseesOf = oncePerBatch(async ({ db, access }, batch) => {
  const emails = batch.flatMap(({ input }) => emailsOf(input.main_contact_email));
  const owners = await findContactsByEmail(db, access.orgNumber, emails);
  const visible = await findVisibleIds(db, access, contacts, [...new Set(owners.values())]);
  return { owners, visible };
});

async function checkEmail(change: Change, email: string): Promise<void> {
  const { access, next, faults } = change;
  const { owners, visible } = await addresseesOf(change);
  const ownerId = owners.get(caselessKey(email));
  const isVisible = ownerId !== undefined && visible.has(ownerId);
  if (isVisible) next.main_contact = ownerId;
  if (isVisible || (ownerId === undefined && mayCreateContacts(access))) return;
  // The same message whether the contact does not exist or belongs to another user.
  faults.push({ path: 'main_contact_email', message: CONTACT_UNKNOWN, code: 'VALIDATION_FAILED' });
}

function mayCreateContacts(access: Change['access']): boolean {
  return hasScope(access, 'contacts:write');
}

async function knownContact(change: Change): Promise<string | null> {
  const { next, input } = change;
  if (typeof next.main_contact === 'string') return next.main_contact;
  const { owners } = await addresseesOf(change);
  return owners.get(caselessKey(String(input.main_contact_email))) ?? null;
}

function newContact(change: Change): NewContact {
  const { trx, access, now, input, next } = change;
  const { orgNumber } = access;
  const email = String(input.main_contact_email);
  const data = { email, owner_id: access.userId };
  const put = async (cause: number) => {
    const record = { orgNumber, createdBy: principalOf(access), now, data, cause };
    const { id } = await insertReservedRecord(trx, contacts, record);
    await replaceContactEmails(trx, orgNumber, [{ id, before: [], after: [email] }]);
    const { owners } = await addresseesOf(change);
    owners.set(caselessKey(email), id);
    next.main_contact = id;
    return id;
  };
  return { data, put };
}

// Existing primary IDs, by their keys; those that the batch writes are added.
const originsOf = oncePerBatch(({ db, access }, batch) => {
  const given = batch.flatMap(({ input }) => textOf(input.primary_id) ?? []);
  return batch.length > 1
    ? findOrigins(db, access.orgNumber, given)
    : Promise.resolve(new Set(given.map(textKey)));
});

async function isFirstOfOrigin(change: Change): Promise<boolean> {
  const primaryId = textOf(change.input.primary_id);
  if (primaryId === null) return false;
  const origins = await originsOf(change);
  const key = textKey(primaryId);
  const isFirst = !origins.has(key);
  origins.add(key);
  return isFirst;
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
