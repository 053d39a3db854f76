// Interactions: written once, about a contact that an id or an email names; a repeated one is not written again.

import type { Data } from '../../db/declare/json.ts';
import { contacts } from '../../db/resources/contacts.ts';
import { CONTACT_UNKNOWN } from '../../db/resources/interactions.ts';
import { replaceContactEmails } from '../../db/tables/contact-emails.ts';
import { listInvolved, logInteraction } from '../../db/tables/interactions.ts';
import { insertRecord } from '../../db/tables/records.ts';
import { findUnique } from '../../db/tables/unique.ts';
import { hasScope, principalOf } from '../access.ts';
import { findVisible } from './references.ts';
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
    const { id, isDuplicate } = await logInteraction(trx, {
      orgId: access.orgId,
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
      mainContact: (await knownContact(change)) ?? (() => createContact(change)),
    });
    return { id, extra: { is_duplicate: isDuplicate } };
  },
  async present({ db, access }, records) {
    const idOf = (record: Data) => String(record.id);
    const { contactIds, companyIds } = await listInvolved(db, access.orgId, records.map(idOf));
    for (const record of records) {
      record.contact_ids = contactIds.get(idOf(record)) ?? [];
      record.company_ids = companyIds.get(idOf(record)) ?? [];
    }
  },
};

async function checkEmail({ trx, access, next, faults }: Change, email: string): Promise<void> {
  const ownerId = await findUnique(trx, contacts, access.orgId, { filter: 'email', value: email });
  const isVisible =
    ownerId !== undefined && (await findVisible(trx, access, 'contacts', ownerId)) !== undefined;
  if (isVisible) next.main_contact = ownerId;
  if (isVisible || (ownerId === undefined && mayCreateContacts(access))) return;
  // The same words whether the contact is absent or another user's.
  faults.push({ path: 'main_contact_email', message: CONTACT_UNKNOWN, code: 'VALIDATION_FAILED' });
}

function mayCreateContacts(access: Change['access']): boolean {
  return hasScope(access, 'contacts:write');
}

async function knownContact({ trx, access, next, input }: Change): Promise<string | null> {
  if (typeof next.main_contact === 'string') return next.main_contact;
  const value = String(input.main_contact_email);
  return (await findUnique(trx, contacts, access.orgId, { filter: 'email', value })) ?? null;
}

async function createContact({ trx, access, now, input }: Change): Promise<string> {
  const { orgId } = access;
  const email = String(input.main_contact_email);
  const data = { email, owner_id: access.userId };
  const createdBy = principalOf(access);
  const { id } = await insertRecord(trx, contacts, { orgId, createdBy, now, data });
  await replaceContactEmails(trx, orgId, [{ id, before: [], after: [email] }]);
  return id;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
