// What v1 operations do: v2 logic on translated bodies, with translated responses.

import { getOrganization } from '../../db/accounts/accounts.ts';
import type { Fault } from '../../db/model/faults.ts';
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { companies } from '../../db/model/resources/companies.ts';
import { contacts } from '../../db/model/resources/contacts.ts';
import { interactions } from '../../db/model/resources/interactions.ts';
import { newRecordFaults } from '../../db/model/rules.ts';
import { findUnique } from '../../db/records/unique.ts';
import type { Answer, Call, ReadCall, WriteCall } from '../operation.ts';
import { createRecord, updateRecordFields } from '../records/changes.ts';
import { removeRecord } from '../records/deletes.ts';
import { getRecord, listPage, placeAfter } from '../records/records.ts';
import { PAGE_DEFAULT } from './schemas.ts';
import {
  COMPANY_READ_ONLY_FIELDS,
  fromCompany,
  PERSON_UNSEEN,
  toCompany,
  toInteraction,
  toPerson,
  toV2,
  v1Path,
  v1Text,
} from './translate.ts';

export async function authenticate({ db, access }: Call): Promise<Answer> {
  const { name } = await getOrganization(db, access.orgNumber);
  return success({ team_name: name });
}

export async function getPerson(call: Call): Promise<Answer> {
  return success(toPerson(await getRecord(call, contacts, call.params.personId ?? '')));
}

export async function createPerson(call: WriteCall): Promise<Answer> {
  const { type: _, identifier, ...names } = call.body as Data;
  const input = toV2({ email: identifier ?? null, ...names });
  const contact = await createRecord(call, contacts, input);
  return created('people', contact.id, toPerson(contact));
}

/** Creates a person, or updates the one with that email (alternative emails included), who keeps the primary email. */
export async function upsertPerson(call: WriteCall): Promise<Answer> {
  const { email, ...fields } = toV2(call.body as Data);
  const existing = await findUnique(call.db, contacts, call.access.orgNumber, {
    filter: 'email',
    value: String(email),
  });
  const contact =
    existing === undefined
      ? await createRecord(call, contacts, { email: email ?? null, ...fields })
      : await updateRecordFields(call, contacts, existing, fields);
  return success(toPerson(contact));
}

export async function updatePerson(call: WriteCall): Promise<Answer> {
  const id = call.params.personId ?? '';
  return success(toPerson(await updateRecordFields(call, contacts, id, toV2(call.body as Data))));
}

export async function deletePerson(call: WriteCall): Promise<Answer> {
  await removeRecord(call, contacts, call.params.personId ?? '');
  return { status: 204 };
}

export function queryPeople(call: ReadCall): Promise<Answer> {
  return query(call, contacts, toPerson, PERSON_UNSEEN);
}

export async function getCompany(call: Call): Promise<Answer> {
  return success(toCompany(await getRecord(call, companies, call.params.companyId ?? '')));
}

/** Creates a company, or returns the ID of the one with that domain. */
export async function createCompany(call: WriteCall): Promise<Answer> {
  const input = fromCompany(call.body as Data);
  const existing = await findUnique(call.db, companies, call.access.orgNumber, {
    filter: 'domain',
    value: String(input.domain),
  });
  if (existing !== undefined) return success({ id: existing });
  const company = await createRecord(call, companies, input);
  return created('companies', company.id, { id: company.id ?? null });
}

export async function updateCompany(call: WriteCall): Promise<Answer> {
  const input = fromCompany(call.body as Data);
  const company = await updateRecordFields(call, companies, call.params.companyId ?? '', input);
  return success({ id: company.id ?? null });
}

export async function deleteCompany(call: WriteCall): Promise<Answer> {
  await removeRecord(call, companies, call.params.companyId ?? '');
  return { status: 204 };
}

export async function getInteraction(call: Call): Promise<Answer> {
  return success(toInteraction(await getRecord(call, interactions, call.params.interactionId ?? '')));
}

export async function createInteraction(call: WriteCall): Promise<Answer> {
  const input = toV2(call.body as Data);
  if (typeof input.interaction_date === 'number') input.interaction_date = Math.trunc(input.interaction_date);
  const interaction = await createRecord(call, interactions, input);
  const { id = null, is_duplicate: isDuplicate = false } = interaction;
  return created('interactions', id, { id, isDuplicate });
}

export function queryInteractions(call: ReadCall): Promise<Answer> {
  return query(call, interactions, toInteraction);
}

/** Faults of a company's body beyond its schema: fields set by the service are not additional properties. */
export function inspectCompany(body: Data): Fault[] {
  const readOnly = COMPANY_READ_ONLY_FIELDS.filter((name) => body[name] !== undefined);
  return readOnly.map((path) => ({ path, message: 'is read-only', code: 'VALIDATION_FAILED' }));
}

/** Faults of a new interaction's body beyond its schema. */
export function inspectInteraction(body: Data): Fault[] {
  const faults = newRecordFaults(interactions, toV2(body));
  return faults.map(({ path, message, code }) => ({ path: v1Path(path), message: v1Text(message), code }));
}

async function query(
  call: ReadCall,
  resource: Resource,
  show: (record: Data) => Data,
  unseen: readonly string[] = [],
): Promise<Answer> {
  const { cursor, limit = PAGE_DEFAULT, filter = {} } = call.body as Data;
  const filters = toV2(filter as Data) as Record<string, string>;
  const normalized = Object.entries(filters).map(([name, value]) => [
    name,
    resource.filters[name]?.normalize(value) ?? value,
  ]);
  const list = { orgNumber: call.access.orgNumber, path: `/api/v1/${resource.name}/query`, query: filters };
  const cursors = await call.cursors.of(list);
  const page = await listPage(call, resource, {
    filters: Object.fromEntries(normalized),
    createdSince: null,
    updatedSince: null,
    sortBy: 'created_at',
    direction: 'desc',
    after: cursors.open(cursor, call.now),
    limit: Number(limit),
    unseen,
  });
  const { records, hasNextPage } = page;
  const cursorAfter = (index: number) => cursors.issue(placeAfter(records[index], 'created_at'));
  return { status: 200, object: 'list', data: records.map(show), hasNextPage, cursorAfter };
}

function success(data: Data): Answer {
  return { status: 200, object: 'success', data };
}

function created(collection: string, id: Data[string] | undefined, data: Data): Answer {
  return { status: 201, object: 'success', data, location: `/api/v1/${collection}/${id}` };
}
