// Logging an interaction: told from what is there already, linked to contacts and their companies, and remembered by them.
import { insertRecord } from './records.ts';
import { getResource } from './resources/index.ts';
import { type ColumnMap, type Db, tableOf } from './schema.ts';

export interface NewInteraction {
  orgId: string;
  createdBy: string;
  now: number;
  type: string;
  direction: string;
  title: string;
  summary: string | null;
  /** Unix milliseconds. */
  interactionDate: number;
  /** Whether the date was given, rather than taken from the clock: only then does it tell duplicates. */
  isDated: boolean;
  mainContact: string;
  /** Contacts involved beside the main one. */
  otherContacts?: readonly string[];
  primaryId: string | null;
  secondaryId: string | null;
  /** Look for duplicates among what this user created; null for all of the organization. */
  visibleTo: string | null;
}

/** Writes an interaction unless it is a duplicate; gives the id of the one that then stands. */
export async function logInteraction(
  trx: Db,
  input: NewInteraction,
): Promise<{ id: string; isDuplicate: boolean }> {
  const existing = await findDuplicate(trx, input);
  if (existing !== undefined) return { id: existing, isDuplicate: true };
  const id = Bun.randomUUIDv7();
  await insertRecord(trx, getResource('interactions'), {
    org_id: input.orgId,
    id,
    created_by: input.createdBy,
    created_at: input.now,
    updated_at: input.now,
    type: input.type,
    direction: input.direction,
    title: input.title,
    summary: input.summary,
    interaction_date: input.interactionDate,
    main_contact: input.mainContact,
    primary_id: input.primaryId,
    secondary_id: input.secondaryId,
  });
  await linkToContacts(trx, id, input);
  return { id, isDuplicate: false };
}

async function findDuplicate(trx: Db, input: NewInteraction): Promise<string | undefined> {
  if (input.primaryId === null && !input.isDated) return undefined;
  let query = trx
    .selectFrom(tableOf({ name: 'interactions' }))
    .select('id')
    .where('org_id', '=', input.orgId)
    .where('type', '=', input.type)
    .orderBy('id')
    .limit(1);
  if (input.visibleTo !== null) query = query.where('created_by', '=', input.visibleTo);
  query =
    input.primaryId !== null
      ? query
          .where('primary_id', '=', input.primaryId)
          .where('secondary_id', 'is not distinct from', input.secondaryId)
      : query
          .where('main_contact', '=', input.mainContact)
          .where('direction', '=', input.direction)
          .where('title', '=', input.title)
          .where('interaction_date', '=', input.interactionDate);
  return (await query.executeTakeFirst())?.id;
}

async function linkToContacts(trx: Db, id: string, input: NewInteraction): Promise<void> {
  const contactIds = [...new Set([input.mainContact, ...(input.otherContacts ?? [])])];
  const org_id = input.orgId;
  const rows = contactIds.map((contact_id) => ({ org_id, interaction_id: id, contact_id }));
  await trx.insertInto('interaction_contacts').values(rows).execute();
  const companyIds = await companiesOf(trx, org_id, contactIds);
  if (companyIds.length > 0) {
    const companyRows = companyIds.map((company_id) => ({ org_id, interaction_id: id, company_id }));
    await trx.insertInto('interaction_companies').values(companyRows).execute();
  }
  await moveLastInteraction(trx, 'contacts', contactIds, input);
  await moveLastInteraction(trx, 'companies', companyIds, input);
}

async function companiesOf(trx: Db, orgId: string, contactIds: string[]): Promise<string[]> {
  const rows = await trx
    .selectFrom(tableOf({ name: 'contacts' }))
    .select('company_id')
    .where('org_id', '=', orgId)
    .where('id', 'in', contactIds)
    .execute();
  return [...new Set(rows.flatMap((row) => (typeof row.company_id === 'string' ? [row.company_id] : [])))];
}

// Forward only: an interaction that is logged late changes nothing that happened since.
async function moveLastInteraction(
  trx: Db,
  name: string,
  ids: string[],
  input: NewInteraction,
): Promise<void> {
  if (ids.length === 0) return;
  const columns: ColumnMap = { last_interaction_at: input.interactionDate, updated_at: input.now };
  await trx
    .updateTable(tableOf({ name }))
    .set(columns)
    .where('org_id', '=', input.orgId)
    .where('id', 'in', ids)
    .where((eb) =>
      eb.or([eb('last_interaction_at', 'is', null), eb('last_interaction_at', '<', input.interactionDate)]),
    )
    .execute();
}

/** The contacts and companies involved in interactions, in the order of their ids. */
export async function listInvolved(
  db: Db,
  orgId: string,
  interactionIds: readonly string[],
): Promise<Map<string, { contactIds: string[]; companyIds: string[] }>> {
  const involved = new Map(
    interactionIds.map((id) => [id, { contactIds: [] as string[], companyIds: [] as string[] }]),
  );
  const ids = [...interactionIds];
  if (ids.length === 0) return involved;
  const contacts = await db
    .selectFrom('interaction_contacts')
    .select(['interaction_id', 'contact_id'])
    .where('org_id', '=', orgId)
    .where('interaction_id', 'in', ids)
    .orderBy('contact_id')
    .execute();
  const companies = await db
    .selectFrom('interaction_companies')
    .select(['interaction_id', 'company_id'])
    .where('org_id', '=', orgId)
    .where('interaction_id', 'in', ids)
    .orderBy('company_id')
    .execute();
  for (const row of contacts) involved.get(row.interaction_id)?.contactIds.push(row.contact_id);
  for (const row of companies) involved.get(row.interaction_id)?.companyIds.push(row.company_id);
  return involved;
}
