// Organizations and their users.
import { sql } from 'kysely';
import { actingAs } from '../engine/acting.ts';
import { OPERATOR } from '../engine/author.ts';
import type { Db, OrganizationRow, Trx, UserRow } from '../engine/schema.ts';
import { lookup, statement } from '../engine/statement.ts';
import { takeInstant } from '../engine/write-instant.ts';
import { DEFAULT_PIPELINE_NAME, DEFAULT_STAGES } from '../model/resources/pipelines.ts';
import { caselessKey } from '../model/text.ts';
import { insertPipeline } from '../records/pipelines.ts';
import { findUsersById } from '../tables/users.ts';

/** A name or email that is already taken; `existingId` identifies its owner. */
export class DuplicateAccountError extends Error {
  readonly existingId: string;
  constructor(message: string, existingId: string) {
    super(message);
    this.name = 'DuplicateAccountError';
    this.existingId = existingId;
  }
}

/**
 * Creates an organization with its first pipeline.
 * @param now Unix milliseconds
 * @param keyLifetime default lifetime of its keys, in milliseconds
 * @throws DuplicateAccountError if an organization has that name (case-insensitive)
 */
export async function createOrganization(
  trx: Trx,
  name: string,
  now: number,
  keyLifetime: number | null = null,
): Promise<OrganizationRow> {
  const taken = await findOrganization(trx, name);
  if (taken !== undefined)
    throw new DuplicateAccountError(`An organization named ${taken.name} already exists.`, taken.id);
  const id = Bun.randomUUIDv7();
  const row = {
    number: await nextNumber(trx),
    id,
    name,
    name_key: caselessKey(name),
    created_at: now,
    key_lifetime: keyLifetime,
    body_bytes_max: null,
    requests_per_minute: null,
  };
  await trx.insertInto('organizations').values(row).execute();
  await insertPipeline(actingAs(trx, OPERATOR), {
    orgNumber: row.number,
    createdBy: id,
    now: await takeInstant(trx, row.number, now),
    name: DEFAULT_PIPELINE_NAME,
    stages: DEFAULT_STAGES,
  });
  return row;
}

// Not a number of a removed organization, whose entries in the audit log must not become another's.
async function nextNumber(trx: Trx): Promise<number> {
  const { last, told, kept } = await trx
    .selectNoFrom((eb) => [
      eb
        .selectFrom('organizations')
        .select((of) => of.fn.max('number').as('last'))
        .as('last'),
      eb
        .selectFrom('audit_log')
        .select((of) => of.fn.max('org_id').as('told'))
        .as('told'),
      eb
        .selectFrom('org_clocks')
        .select((of) => of.fn.max('org_id').as('kept'))
        .as('kept'),
    ])
    .executeTakeFirstOrThrow();
  return Math.max(last ?? 0, told ?? 0, kept ?? 0) + 1;
}

/** What can be changed about an organization; null for no limit of its own. */
export interface OrganizationChanges {
  name?: string;
  /** Default lifetime of keys issued from now on, in milliseconds; null for unlimited. */
  keyLifetime?: number | null;
  /** Of all its keys together; null for the limit of the server. */
  requestsPerMinute?: number | null;
}

/**
 * Changes an organization.
 * @throws DuplicateAccountError if another one has that name (case-insensitive)
 */
export async function updateOrganization(
  trx: Trx,
  { number, id }: Pick<OrganizationRow, 'number' | 'id'>,
  { name, keyLifetime, requestsPerMinute }: OrganizationChanges,
): Promise<void> {
  const taken = name === undefined ? undefined : await findOrganization(trx, name);
  if (taken !== undefined && taken.id !== id)
    throw new DuplicateAccountError(`An organization named ${taken.name} already exists.`, taken.id);
  await trx
    .updateTable('organizations')
    .set({
      ...(name !== undefined && { name, name_key: caselessKey(name) }),
      ...(keyLifetime !== undefined && { key_lifetime: keyLifetime }),
      ...(requestsPerMinute !== undefined && { requests_per_minute: requestsPerMinute }),
    })
    .where('number', '=', number)
    .execute();
  if (requestsPerMinute === undefined) return;
  await trx
    .updateTable('api_keys')
    .set({ org_requests_per_minute: requestsPerMinute })
    .where('org_id', '=', number)
    .execute();
}

/** All organizations, oldest first. */
export function listOrganizations(db: Db): Promise<OrganizationRow[]> {
  return db.selectFrom('organizations').selectAll().orderBy('id').execute();
}

/** The organization with that ID or name (case-insensitive). */
export function findOrganization(db: Db, nameOrId: string): Promise<OrganizationRow | undefined> {
  return db
    .selectFrom('organizations')
    .selectAll()
    .where((eb) => eb.or([eb('id', '=', nameOrId), eb('name_key', '=', caselessKey(nameOrId))]))
    .executeTakeFirst();
}

/** The organization with that number, which must exist. */
export function getOrganization(db: Db, number: number): Promise<OrganizationRow> {
  return db.selectFrom('organizations').selectAll().where('number', '=', number).executeTakeFirstOrThrow();
}

/**
 * Creates a user of an organization.
 * @throws DuplicateAccountError if the organization has a user with that email (case-insensitive)
 */
export async function createUser(
  trx: Trx,
  user: { orgNumber: number; email: string; name: string | null; now: number },
): Promise<UserRow> {
  const taken = await findUser(trx, user.orgNumber, user.email);
  if (taken !== undefined)
    throw new DuplicateAccountError(`A user with the email ${taken.email} already exists.`, taken.id);
  const row = {
    org_id: user.orgNumber,
    id: Bun.randomUUIDv7(),
    email: user.email,
    email_key: caselessKey(user.email),
    name: user.name,
    created_at: user.now,
  };
  await trx.insertInto('users').values(row).execute();
  return row;
}

/**
 * Changes a user.
 * @throws DuplicateAccountError if another user of the organization has that email (case-insensitive)
 */
export async function updateUser(
  trx: Trx,
  { org_id, id }: Pick<UserRow, 'org_id' | 'id'>,
  { email, name }: { email?: string; name?: string | null },
): Promise<void> {
  const taken = email === undefined ? undefined : await findUser(trx, org_id, email);
  if (taken !== undefined && taken.id !== id)
    throw new DuplicateAccountError(`A user with the email ${taken.email} already exists.`, taken.id);
  await trx
    .updateTable('users')
    .set({
      ...(email !== undefined && { email, email_key: caselessKey(email) }),
      ...(name !== undefined && { name }),
    })
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .execute();
}

/** Removes a user who owns nothing. */
export async function deleteUser(trx: Trx, { org_id, id }: Pick<UserRow, 'org_id' | 'id'>): Promise<void> {
  await trx.deleteFrom('users').where('org_id', '=', org_id).where('id', '=', id).execute();
}

/** The users of an organization, oldest first. */
export function listUsers(db: Db, orgNumber: number): Promise<UserRow[]> {
  return db.selectFrom('users').selectAll().where('org_id', '=', orgNumber).orderBy('id').execute();
}

/** What others see of the users with these IDs in the organization, in no order. */
export const findUserNames = lookup<Pick<UserRow, 'id' | 'email' | 'name'>>((db, param, isGiven) =>
  db
    .selectFrom('users')
    .select(['id', 'email', 'name'])
    .where('org_id', '=', param('org'))
    .where(isGiven(sql.ref('id'))),
);

const userByEmail = statement<UserRow>((db, param) =>
  db
    .selectFrom('users')
    .selectAll()
    .where('org_id', '=', param('org'))
    .where('email_key', '=', param('email')),
);

/** The user with that email (case-insensitive) in the organization. */
export async function findUserByEmail(
  db: Db,
  orgNumber: number,
  email: string,
): Promise<UserRow | undefined> {
  return (await userByEmail(db, { org: orgNumber, email: caselessKey(email) }))[0];
}

/** The user with that ID or email (case-insensitive) in the organization. */
export async function findUser(db: Db, orgNumber: number, emailOrId: string): Promise<UserRow | undefined> {
  const [user] = await findUsersById(db, orgNumber, [emailOrId]);
  return user ?? findUserByEmail(db, orgNumber, emailOrId);
}
