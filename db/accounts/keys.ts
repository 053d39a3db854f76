// API keys: issued, found by the hash of their secret, rotated, revoked. Secrets are not stored.

import type { ApiKeyRow, Db, Trx } from '../engine/schema.ts';
import { statement } from '../engine/statement.ts';
import type { WebhookRow } from '../engine/webhook-rows.ts';
import { type Api, generateKey, hashKey, KEY_PREFIXES } from '../tables/key-format.ts';
import { disableWebhook, listEnabledWebhooksOf } from '../webhooks/webhooks.ts';
import { getOrganization } from './accounts.ts';

export type AccessLevel = 'organization' | 'user';

export interface NewKey {
  orgNumber: number;
  api: Api;
  /** v1 only: which of its two prefixes. */
  prefix?: string;
  name: string | null;
  scopes: readonly string[];
  access: AccessLevel;
  /** The user that a key with access `user` is bound to. */
  userId: string | null;
  /** Unix milliseconds, or null for a key that does not expire. */
  expiresAt: number | null;
  /** In the format of `networkText`; any network by default. */
  networks?: readonly string[] | null;
  /** The limit of the server by default. */
  requestsPerMinute?: number | null;
  now: number;
}

export interface IssuedKey {
  /** The key itself, shown only once. */
  key: string;
  row: ApiKeyRow;
}

/** Issues a key; only the result contains the secret. */
export async function issueKey(trx: Trx, options: NewKey): Promise<IssuedKey> {
  const prefix = options.prefix ?? KEY_PREFIXES[options.api][0];
  const key = generateKey(prefix);
  const { body_bytes_max, requests_per_minute } = await getOrganization(trx, options.orgNumber);
  const row: ApiKeyRow = {
    org_id: options.orgNumber,
    id: Bun.randomUUIDv7(),
    number: await nextNumber(trx, options.orgNumber),
    api: options.api,
    prefix,
    name: options.name,
    scopes: options.scopes.join(','),
    access: options.access,
    user_id: options.userId,
    created_at: options.now,
    expires_at: options.expiresAt,
    revoked_at: null,
    last_used_at: null,
    networks: storedNetworks(options.networks ?? null),
    body_bytes_max,
    requests_per_minute: options.requestsPerMinute ?? null,
    org_requests_per_minute: requests_per_minute,
  };
  await trx.insertInto('api_keys').values(row).execute();
  await insertSecret(trx, row, key, options.now);
  return { key, row };
}

async function nextNumber(trx: Trx, orgNumber: number): Promise<number> {
  const { last } = await trx
    .selectFrom('api_keys')
    .select((eb) => eb.fn.max('number').as('last'))
    .where('org_id', '=', orgNumber)
    .executeTakeFirstOrThrow();
  return (last ?? 0) + 1;
}

function insertSecret(trx: Trx, row: ApiKeyRow, key: string, now: number): Promise<unknown> {
  const secret = {
    org_id: row.org_id,
    key_id: row.id,
    hash: hashKey(key),
    created_at: now,
    expires_at: null,
  };
  return trx.insertInto('api_key_secrets').values(secret).execute();
}

/** A key with the ID of its organization. */
export type ListedKey = ApiKeyRow & { organization_id: string };

/** Keys of one organization, or of all, oldest first, including revoked and expired ones. */
export function listKeys(db: Db, orgNumber?: number): Promise<ListedKey[]> {
  let query = db
    .selectFrom('api_keys as key')
    .innerJoin('organizations as organization', 'organization.number', 'key.org_id')
    .selectAll('key')
    .select('organization.id as organization_id')
    .orderBy('key.id');
  if (orgNumber !== undefined) query = query.where('key.org_id', '=', orgNumber);
  return query.execute();
}

/** The key with that ID, in any organization. */
export function findKey(db: Db, id: string): Promise<ApiKeyRow | undefined> {
  return db.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst();
}

const keyByNumber = statement<ApiKeyRow>((db, param) =>
  db
    .selectFrom('api_keys')
    .selectAll()
    .where('org_id', '=', param('org'))
    .where('number', '=', param('number')),
);

/** The key with that number in an organization. */
export async function findKeyByNumber(
  db: Db,
  orgNumber: number,
  number: number,
): Promise<ApiKeyRow | undefined> {
  const [key] = await keyByNumber(db, { org: orgNumber, number });
  return key;
}

/** The keys with these numbers in an organization, in no order. */
export async function findKeysByNumber(
  db: Db,
  orgNumber: number,
  numbers: readonly number[],
): Promise<ApiKeyRow[]> {
  if (numbers.length === 0) return [];
  return db
    .selectFrom('api_keys')
    .selectAll()
    .where('org_id', '=', orgNumber)
    .where('number', 'in', [...new Set(numbers)])
    .execute();
}

/** Gives a key a new secret; earlier ones keep working for `graceMs` milliseconds, 0 to end them at once. */
export async function rotateKey(trx: Trx, row: ApiKeyRow, graceMs: number, now: number): Promise<IssuedKey> {
  const key = generateKey(row.prefix);
  const graceEnds = now + graceMs;
  await trx
    .updateTable('api_key_secrets')
    .set({ expires_at: graceEnds })
    .where('org_id', '=', row.org_id)
    .where('key_id', '=', row.id)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', graceEnds)]))
    .execute();
  await insertSecret(trx, row, key, now);
  return { key, row };
}

/** Ends a key with the next request, and disables its webhooks; `isRevoked` is false if it was already revoked. */
export async function revokeKey(
  trx: Trx,
  row: ApiKeyRow,
  now: number,
): Promise<{ isRevoked: boolean; disabled: WebhookRow[] }> {
  const result = await trx
    .updateTable('api_keys')
    .set({ revoked_at: now })
    .where('org_id', '=', row.org_id)
    .where('id', '=', row.id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  const disabled = await listEnabledWebhooksOf(trx, row);
  for (const { org_id: orgNumber, id } of disabled)
    await disableWebhook(trx, { orgNumber, id }, 'key_revoked', now);
  return { isRevoked: result.numUpdatedRows > 0n, disabled };
}

/** What can be changed about a key; null for any network, and for the limit of the server. */
export interface KeyChanges {
  name?: string;
  networks?: readonly string[] | null;
  requestsPerMinute?: number | null;
}

/** Changes a key, effective with the next request. */
export async function updateKey(
  trx: Trx,
  row: Pick<ApiKeyRow, 'org_id' | 'id'>,
  { name, networks, requestsPerMinute }: KeyChanges,
): Promise<void> {
  await trx
    .updateTable('api_keys')
    .set({
      ...(name !== undefined && { name }),
      ...(networks !== undefined && { networks: storedNetworks(networks) }),
      ...(requestsPerMinute !== undefined && { requests_per_minute: requestsPerMinute }),
    })
    .where('org_id', '=', row.org_id)
    .where('id', '=', row.id)
    .execute();
}

function storedNetworks(networks: readonly string[] | null): string | null {
  return networks?.join(',') ?? null;
}

/** A key as found for a request, with the end of its secret's grace period. */
export type PresentedKey = ApiKeyRow & { secret_expires_at: number | null };

const keyByHash = statement<PresentedKey>((db, param) =>
  db
    .selectFrom('api_key_secrets as secret')
    .innerJoin('api_keys as key', (join) =>
      join.onRef('key.org_id', '=', 'secret.org_id').onRef('key.id', '=', 'secret.key_id'),
    )
    .selectAll('key')
    .select('secret.expires_at as secret_expires_at')
    .where('secret.hash', '=', param('hash')),
);

/** The key whose current or still valid secret has that hash. */
export async function findKeyByHash(db: Db, hash: string): Promise<PresentedKey | undefined> {
  const [row] = await keyByHash(db, { hash });
  return row;
}

const touched = statement<never>((db, param) =>
  db
    .updateTable('api_keys')
    .set({ last_used_at: param('now') })
    .where('org_id', '=', param('org'))
    .where('id', '=', param('id'))
    .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', param('now'))])),
);

/** Notes when a key was last used, unless a later use is noted. */
export async function touchKey(trx: Trx, row: Pick<ApiKeyRow, 'org_id' | 'id'>, now: number): Promise<void> {
  await touched(trx, { org: row.org_id, id: row.id, now });
}

const V1_TO_V2: Record<string, readonly string[]> = {
  'people:read': ['contacts:read'],
  'people:write': ['contacts:write', 'contacts:delete'],
  'companies:read': ['companies:read'],
  'companies:write': ['companies:write'],
  'companies:remove': ['companies:delete'],
  'interactions:read': ['interactions:read'],
  'interactions:write': ['interactions:write'],
};

/** The v2 scopes that correspond to v1 scopes; `ALL` gives those of every v1 scope and nothing more. */
export function scopesFromV1(scopes: readonly string[]): string[] {
  const granted = scopes.includes('ALL') ? Object.keys(V1_TO_V2) : scopes;
  return [...new Set(granted.flatMap((scope) => V1_TO_V2[scope] ?? []))];
}
