// What the operations on webhooks have in common.

import type { LogState } from '../../db/changes/log-state.ts';
import { lastChange } from '../../db/engine/change-log.ts';
import type { Db } from '../../db/engine/schema.ts';
import type { WebhookRow } from '../../db/engine/webhook-rows.ts';
import type { Data } from '../../db/model/json.ts';
import { getWebhookKey } from '../../db/tables/settings.ts';
import type { Call, WriteCall } from '../operation.ts';
import type { ListPosition } from '../records/records.ts';
import { openWebhookSecret } from '../signing/webhook-secrets.ts';
import type { NewSecret } from '../webhooks/manage.ts';
import { showWebhooks } from '../webhooks/shown.ts';
import { requireLog, type WebhookReader } from '../webhooks/visibility.ts';

export const WEBHOOKS_PATH = '/api/v2/webhooks';

/** The name of the group of these operations. */
export const WEBHOOKS_TAG = 'Webhooks';

/** What the operations that read have in common. */
export const WEBHOOK_READING = {
  api: 'v2',
  tag: WEBHOOKS_TAG,
  scopes: ['webhooks:read'],
  isWrite: false,
} as const;

/** What the operations that write have in common. */
export const WEBHOOK_WRITING = {
  api: 'v2',
  tag: WEBHOOKS_TAG,
  scopes: ['webhooks:write'],
  isWrite: true,
  isAudited: true,
  query: {},
} as const;

/** The place in a list after a row, in the order of their IDs alone. */
export function placeOfRow(row: { id: string } | undefined): ListPosition {
  return { value: 0, id: row?.id ?? '' };
}

/**
 * The log of changes, with those of this transaction and of others that commit with it.
 * @throws ApiError 404 if none is kept
 */
export async function currentLog(call: WriteCall): Promise<LogState> {
  return { ...(await requireLog(call)), last: await lastChange(call.db, call.access.orgNumber) };
}

/** The response with a webhook. */
export async function answerWebhook({ db }: WebhookReader, row: WebhookRow, log: LogState) {
  const [data = {}] = await showWebhooks(db, [row], log);
  return { status: 200, object: 'success', data } as const;
}

/** The response with a webhook and its new secret; stored for repeated requests with the secret as in the database. */
export async function answerSecret(call: WriteCall, { row, secret }: NewSecret, log: LogState) {
  const answer = await answerWebhook(call, row, log);
  const stored = { ...answer.data, secret: row.secret };
  return { ...answer, data: { ...answer.data, secret }, stored };
}

/** Restores the secret in the data of such a response. */
export async function restoreSecret(db: Db, data: Data): Promise<Data> {
  return {
    ...data,
    secret: openWebhookSecret(await getWebhookKey(db), String(data.secret), String(data.id)),
  };
}

/** The ID in the path. */
export function webhookIdOf({ params }: Call): string {
  return params.id ?? '';
}
