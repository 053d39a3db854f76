// Which webhooks a key can see, and which it can change: those of keys that see no more than it does.

import { findKeyByNumber } from '../../db/accounts/keys.ts';
import { findLogState, type LogState } from '../../db/changes/log-state.ts';
import type { ApiKeyRow, Db } from '../../db/engine/schema.ts';
import type { WebhookRow } from '../../db/engine/webhook-rows.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { findWebhook } from '../../db/webhooks/webhooks.ts';
import { type Access, accessOfKey, hasScope } from '../access.ts';
import { ApiError, notFound } from '../errors.ts';

/** Who asks for a webhook. */
export interface WebhookReader {
  db: Db;
  access: Access;
  /** Unix milliseconds. */
  now: number;
}

/** A webhook, and the key whose access it has. */
export interface OwnedWebhook {
  row: WebhookRow;
  owner: ApiKeyRow;
}

/**
 * The log of changes, which webhooks deliver.
 * @throws ApiError 404 if none is kept
 */
export async function requireLog({ db, access }: WebhookReader): Promise<LogState> {
  const log = await findLogState(db, access.orgNumber);
  if (log.isKept) return log;
  const message =
    'This service keeps no changes, so there is nothing to deliver to webhooks; its operator can turn that on.';
  throw new ApiError('RESOURCE_NOT_FOUND', message);
}

/**
 * A webhook that the key can see.
 * @throws ApiError 404
 */
export async function getVisibleWebhook({ db, access }: WebhookReader, id: string): Promise<WebhookRow> {
  const row = await findWebhook(db, { orgNumber: access.orgNumber, id });
  if (row === undefined || (access.userId !== null && row.user_id !== access.userId))
    throw notFound('webhook');
  return row;
}

/**
 * A webhook that the key can change.
 * @throws ApiError 404 if it cannot see it; 403 if it cannot read all that the webhook can
 */
export async function getOwnedWebhook(reader: WebhookReader, id: string): Promise<OwnedWebhook> {
  const row = await getVisibleWebhook(reader, id);
  const owner = await getOwner(reader.db, row);
  for (const scope of readScopesOf(accessOfKey(owner))) {
    if (hasScope(reader.access, scope)) continue;
    const message = `This webhook was made with a key that has the scope ${scope}, so a request that changes or uses it needs ${scope} as well.`;
    throw new ApiError('AUTH_INSUFFICIENT_SCOPE', message);
  }
  return { row, owner };
}

// The key whose access a webhook has.
async function getOwner(db: Db, { org_id, id, key_number }: WebhookRow): Promise<ApiKeyRow> {
  const owner = await findKeyByNumber(db, org_id, key_number);
  if (owner === undefined) throw new Error(`the key of webhook ${id} is gone`);
  return owner;
}

/** Whether a key no longer works. `now` is in Unix milliseconds. */
export function isInactive({ revoked_at, expires_at }: ApiKeyRow, now: number): boolean {
  return revoked_at !== null || (expires_at !== null && expires_at <= now);
}

function readScopesOf(access: Access): string[] {
  return RESOURCES.map(({ name }) => `${name}:read`).filter((scope) => hasScope(access, scope));
}
