// Logging an interaction: told from what is there already, linked to contacts and their companies, and remembered by them.
import type { ColumnValue } from '../declare/fields.ts';
import { getResource } from '../resources/index.ts';
import { type ColumnMap, type Db, tableOf } from '../schema.ts';
import { type Param, statement } from '../statement.ts';
import { insertRecord } from './records.ts';

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
  return { id: await insertInteraction(trx, input), isDuplicate: false };
}

/** Writes an interaction that is no duplicate; gives its id. */
export async function insertInteraction(trx: Db, input: NewInteraction): Promise<string> {
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
  return id;
}

const byOrigin = statement<{ id: string; created_by: string }>((db, param) =>
  duplicatesOf(db, param)
    .where('primary_id', '=', param('primary_id'))
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
    .selectFrom(tableOf({ name: 'interactions' }))
    .select(['id', 'created_by'])
    .$castTo<{ id: string; created_by: string }>()
    .where('org_id', '=', param('org'))
    .where('type', '=', param('type'));
}

type Candidate = Omit<NewInteraction, 'mainContact'> & { mainContact: string | null };

/** The id of the interaction that this one repeats; `mainContact` is null for a contact who does not exist yet. */
export async function findDuplicate(trx: Db, input: Candidate): Promise<string | undefined> {
  if (input.primaryId === null && !input.isDated) return undefined;
  const found = await (input.primaryId === null ? byContent : byOrigin)(trx, {
    org: input.orgId,
    type: input.type,
    primary_id: input.primaryId,
    secondary_id: input.secondaryId,
    contact: input.mainContact,
    direction: input.direction,
    title: input.title,
    date: input.interactionDate,
  });
  const visible = found.filter((row) => input.visibleTo === null || row.created_by === input.visibleTo);
  // The oldest; SQL that asked for that order would be run by going through all interactions in it.
  return visible.map((row) => row.id).sort()[0];
}

const contactLink = statement<never>((db, param) =>
  db.insertInto('interaction_contacts').values({
    org_id: param('org'),
    interaction_id: param('interaction'),
    contact_id: param('id'),
  }),
);

const companyLink = statement<never>((db, param) =>
  db.insertInto('interaction_companies').values({
    org_id: param('org'),
    interaction_id: param('interaction'),
    company_id: param('id'),
  }),
);

async function linkToContacts(trx: Db, interaction: string, input: NewInteraction): Promise<void> {
  const org = input.orgId;
  const contactIds = new Set([input.mainContact, ...(input.otherContacts ?? [])]);
  const companyIds = new Set<string>();
  for (const id of contactIds) {
    await contactLink(trx, { org, interaction, id });
    const companyId = await findCompanyOf(trx, org, id);
    if (companyId !== null) companyIds.add(companyId);
    await moveContact(trx, moment(input, id));
  }
  for (const id of companyIds) {
    await companyLink(trx, { org, interaction, id });
    await moveCompany(trx, moment(input, id));
  }
}

const companyOf = statement<{ company_id: ColumnValue }>((db, param) =>
  db
    .selectFrom(tableOf({ name: 'contacts' }))
    .select('company_id')
    .where('org_id', '=', param('org'))
    .where('id', '=', param('id')),
);

async function findCompanyOf(trx: Db, org: string, id: string): Promise<string | null> {
  const companyId = (await companyOf(trx, { org, id }))[0]?.company_id;
  return typeof companyId === 'string' ? companyId : null;
}

const moveContact = moveLastInteraction('contacts');
const moveCompany = moveLastInteraction('companies');

// Forward only: an interaction that is logged late changes nothing that happened since.
function moveLastInteraction(name: string) {
  return statement<never>((db, param) => {
    const columns = { last_interaction_at: param('date'), updated_at: param('now') } as ColumnMap;
    return db
      .updateTable(tableOf({ name }))
      .set(columns)
      .where('org_id', '=', param('org'))
      .where('id', '=', param('id'))
      .where((eb) =>
        eb.or([eb('last_interaction_at', 'is', null), eb('last_interaction_at', '<', param('date'))]),
      );
  });
}

function moment({ orgId, interactionDate, now }: NewInteraction, id: string): Record<string, ColumnValue> {
  return { org: orgId, id, date: interactionDate, now };
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
    .orderBy('interaction_id')
    .orderBy('contact_id')
    .execute();
  const companies = await db
    .selectFrom('interaction_companies')
    .select(['interaction_id', 'company_id'])
    .where('org_id', '=', orgId)
    .where('interaction_id', 'in', ids)
    .orderBy('interaction_id')
    .orderBy('company_id')
    .execute();
  for (const row of contacts) involved.get(row.interaction_id)?.contactIds.push(row.contact_id);
  for (const row of companies) involved.get(row.interaction_id)?.companyIds.push(row.company_id);
  return involved;
}
