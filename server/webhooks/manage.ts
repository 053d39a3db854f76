// Creates, changes and deletes webhooks, and gives them new secrets.

import { findKeyByNumber } from '../../db/accounts/keys.ts';
import type { LogState } from '../../db/changes/log-state.ts';
import type { RecordTrx } from '../../db/engine/schema.ts';
import type { WebhookRow } from '../../db/engine/webhook-rows.ts';
import type { Data } from '../../db/model/json.ts';
import { type AuditAction, recordAudit } from '../../db/tables/audit.ts';
import { recordId } from '../../db/tables/record-id.ts';
import { getWebhookKey } from '../../db/tables/settings.ts';
import { clearQueue, deleteWaitingBefore, retryWaitingAt } from '../../db/webhooks/queue.ts';
import {
  countWebhooks,
  deleteWebhook,
  insertWebhook,
  updateWebhook,
  WEBHOOKS_MAX,
} from '../../db/webhooks/webhooks.ts';
import { type Access, accessOfKey, hasScope } from '../access.ts';
import { ApiError, insufficientScope, invalid } from '../errors.ts';
import { actorOf, type RequestOrigin } from '../request-origin.ts';
import { sealWebhookSecret } from '../signing/webhook-secrets.ts';
import { EVERY_EVENT, eventsOf, namedResources, subscribedResources } from './events.ts';
import { newWebhookSecret } from './signature.ts';
import { getOwnedWebhook, isInactive, type OwnedWebhook, type WebhookReader } from './visibility.ts';

/** How long the previous secret of a webhook also signs, in milliseconds: a day. */
const PREVIOUS_SECRET_MS = 24 * 60 * 60 * 1_000;

/** Who changes a webhook. */
export interface WebhookWriter extends WebhookReader {
  db: RecordTrx;
  origin: RequestOrigin;
}

/** What clients write of a webhook. */
export interface WebhookInput {
  url: string;
  events: string[];
  description?: string | null;
  is_enabled?: boolean;
}

/** A webhook with its new secret. */
export interface NewSecret {
  row: WebhookRow;
  secret: string;
}

/**
 * Creates a webhook, which sees what the key sees, from the next change on.
 * @param log the organization's, up to date
 * @throws ApiError 401 if the key ended while the request was under way; 403 without the read scope of what it subscribes
 * to; 422 if there are too many
 */
export async function createWebhook(
  writer: WebhookWriter,
  input: WebhookInput,
  log: LogState,
): Promise<NewSecret> {
  const { db, access, now } = writer;
  await requireWorkingKey(writer);
  requireEvents(access, input.events);
  if ((await countWebhooks(db, access.orgNumber)) >= WEBHOOKS_MAX)
    throw invalid(
      '',
      `An organization can have at most ${WEBHOOKS_MAX} webhooks.`,
      'VALIDATION_OUT_OF_RANGE',
    );
  const id = recordId(now);
  const secret = newWebhookSecret();
  const row: WebhookRow = {
    org_id: access.orgNumber,
    id,
    url: input.url,
    events: JSON.stringify(input.events),
    description: input.description ?? null,
    is_enabled: input.is_enabled === false ? 0 : 1,
    disabled_reason: null,
    key_number: access.keyNumber,
    user_id: access.userId,
    secret: sealWebhookSecret(await getWebhookKey(db), secret, id),
    previous_secret: null,
    previous_secret_until: null,
    place: log.last,
    epoch: log.epoch,
    skipped_at: null,
    failing_since: null,
    last_success_at: null,
    lease_holder: null,
    lease_until: null,
    created_at: now,
    updated_at: now,
  };
  await insertWebhook(db, row);
  await recordOn(writer, 'webhook.created', id, { events: input.events });
  return { row, secret };
}

// A webhook lives by its key: one that ended since the request began, or went with its organization, would leave it without.
async function requireWorkingKey({ db, access, now }: WebhookWriter): Promise<void> {
  const key = await findKeyByNumber(db, access.orgNumber, access.keyNumber);
  if (key !== undefined && !isInactive(key, now)) return;
  const headers = { 'WWW-Authenticate': 'Bearer' };
  throw new ApiError('AUTH_INVALID_API_KEY', 'The API key is no longer valid.', { headers });
}

/**
 * Changes what differs of a webhook. If it is enabled again, it resumes at its place; if that is no longer kept, at the end
 * of the log. A webhook whose key no longer works then has the access of the key that enables it.
 * @param log the organization's, up to date
 * @throws ApiError 403, 404, 422
 */
export async function changeWebhook(
  writer: WebhookWriter,
  id: string,
  input: Partial<WebhookInput>,
  log: LogState,
): Promise<WebhookRow> {
  const { db, access, now } = writer;
  const { row, owner } = await getOwnedWebhook(writer, id);
  const columns = differing(row, input);
  const isEnabling = columns.is_enabled === 1;
  if (isEnabling) Object.assign(columns, await resume(writer, { row, owner }, log));
  const next = { ...row, ...columns };
  if (isEnabling || columns.events !== undefined) {
    requireEvents(access, eventsOf(next));
    if (next.key_number !== access.keyNumber) requireOwner(accessOfKey(owner), eventsOf(next));
  }
  const fields = Object.keys(input).filter((name) => name in columns);
  if (fields.length === 0) return row;
  // A new address is tried without waiting for the next attempt at the old one.
  if (isEnabling || columns.url !== undefined) {
    columns.failing_since = null;
    await retryWaitingAt(db, rowKeyOf(row), now);
  }
  columns.updated_at = now;
  await updateWebhook(db, rowKeyOf(row), columns);
  await recordOn(writer, 'webhook.changed', id, { fields });
  return { ...row, ...columns };
}

function differing(row: WebhookRow, input: Partial<WebhookInput>): Partial<WebhookRow> {
  const { url, description, events, is_enabled } = input;
  const columns: Partial<WebhookRow> = {};
  if (url !== undefined && url !== row.url) columns.url = url;
  if (description !== undefined && description !== row.description) columns.description = description;
  if (events !== undefined && JSON.stringify(events) !== row.events) columns.events = JSON.stringify(events);
  if (is_enabled !== undefined && is_enabled !== (row.is_enabled === 1))
    Object.assign(columns, { is_enabled: is_enabled ? 1 : 0, disabled_reason: null });
  return columns;
}

async function resume(
  { db, access, now }: WebhookWriter,
  { row, owner }: OwnedWebhook,
  log: LogState,
): Promise<Partial<WebhookRow>> {
  const taken = isInactive(owner, now) ? { key_number: access.keyNumber, user_id: access.userId } : {};
  const isSameLog = row.epoch === log.epoch;
  if (isSameLog && row.place >= log.first - 1) return taken;
  if (isSameLog) await deleteWaitingBefore(db, rowKeyOf(row), log.first);
  else await clearQueue(db, rowKeyOf(row));
  return { ...taken, place: log.last, epoch: log.epoch, skipped_at: now };
}
/**
 * Deletes a webhook, with what waits for it.
 * @throws ApiError 403, 404
 */
export async function removeWebhook(writer: WebhookWriter, id: string): Promise<void> {
  const { row } = await getOwnedWebhook(writer, id);
  await deleteWebhook(writer.db, rowKeyOf(row));
  await recordOn(writer, 'webhook.deleted', id);
}

/**
 * Gives a webhook a new secret; the previous one also signs for a day.
 * @throws ApiError 403, 404
 */
export async function rotateWebhook(writer: WebhookWriter, id: string): Promise<NewSecret> {
  const { db, now } = writer;
  const { row } = await getOwnedWebhook(writer, id);
  const secret = newWebhookSecret();
  const columns = {
    secret: sealWebhookSecret(await getWebhookKey(db), secret, id),
    previous_secret: row.secret,
    previous_secret_until: now + PREVIOUS_SECRET_MS,
    updated_at: now,
  };
  await updateWebhook(db, rowKeyOf(row), columns);
  await recordOn(writer, 'webhook.rotated', id);
  return { row: { ...row, ...columns }, secret };
}

/** Adds an entry to the audit log, of an action on a webhook. */
export function recordOn(
  writer: WebhookWriter,
  action: AuditAction,
  id: string,
  details?: Data,
): Promise<void> {
  const { db, access, origin, now } = writer;
  return recordAudit(db, {
    ...{ orgNumber: access.orgNumber, actor: actorOf(writer), action, target: { type: 'webhooks', id } },
    ...{ requestId: origin.requestId, now, ...(details && { details }) },
  });
}

/** Identifies the row of a webhook. */
export function rowKeyOf({ org_id: orgNumber, id }: WebhookRow) {
  return { orgNumber, id };
}

// The read scope of each resource that is named; `*` needs that of any.
function requireEvents(access: Access, events: readonly string[]): void {
  for (const name of namedResources(events))
    if (!hasScope(access, `${name}:read`)) throw insufficientScope(`${name}:read`);
  if (events.includes(EVERY_EVENT) && subscribedResources(events, access).length === 0)
    throw insufficientScope('contacts:read');
}

// A webhook sees what its key sees, even if another key changes it.
function requireOwner(owner: Access, events: readonly string[]): void {
  const hidden = namedResources(events).find((name) => !hasScope(owner, `${name}:read`));
  if (hidden === undefined) return;
  const message = `must not have ${hidden}, which the key that made the webhook cannot read; create another webhook for them`;
  throw invalid('events', message);
}
