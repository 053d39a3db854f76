// What a client has sent to a webhook on request: a ping, or changes of the past.

import type { LogState } from '../../db/changes/log-state.ts';
import { findSequenceAt } from '../../db/changes/places.ts';
import type { WebhookDeliveryRow } from '../../db/engine/webhook-rows.ts';
import { recordId } from '../../db/tables/record-id.ts';
import { insertDeliveries, PING } from '../../db/webhooks/deliveries.ts';
import { insertPass, listPasses } from '../../db/webhooks/queue.ts';
import { ApiError, invalid } from '../errors.ts';
import { isBeforeLog, keptSince } from '../records/change-feed.ts';
import { recordOn, rowKeyOf, type WebhookWriter } from './manage.ts';
import { getOwnedWebhook } from './visibility.ts';

/** Maximum number of running replays of a webhook. */
export const REPLAYS_MAX = 10;

/**
 * Notes a ping, which is sent soon, once.
 * @throws ApiError 403, 404
 */
export async function pingWebhook(writer: WebhookWriter, id: string): Promise<WebhookDeliveryRow> {
  const { db, now } = writer;
  const { row } = await getOwnedWebhook(writer, id);
  const delivery: WebhookDeliveryRow = {
    ...{ org_id: row.org_id, webhook_id: id, id: recordId(now) },
    ...{ sequence: null, type: PING, attempt: 1, at: now },
    ...{ ms: null, status: null, outcome: 'pending', next_attempt_at: now },
  };
  await insertDeliveries(db, [delivery]);
  return delivery;
}

/** Which changes to send again: those since an instant (Unix milliseconds), or a range of sequence numbers. */
export type ReplayedChanges = { since: number } | ChangeSpan;

/** Sequence numbers, both included. */
export interface ChangeSpan {
  from: number;
  to: number;
}

/**
 * Begins to send changes again that a webhook subscribes to.
 * @param log the organization's, up to date
 * @returns the changes that this looks at; null if there are none
 * @throws ApiError 403, 404; 409 if the webhook is disabled, or too many replays are running; 422 for changes that are
 * not there, or sequence numbers from a user-bound key
 */
export async function replayChanges(
  writer: WebhookWriter,
  id: string,
  changes: ReplayedChanges,
  log: LogState,
): Promise<ChangeSpan | null> {
  const { db, access } = writer;
  const { row } = await getOwnedWebhook(writer, id);
  if (row.is_enabled === 0)
    throw new ApiError('RESOURCE_CONFLICT', 'The webhook is disabled; enable it before you replay changes.');
  const span =
    'since' in changes ? await spanSince(writer, changes.since, log) : checked(changes, writer, log);
  if (span.from > span.to) return null;
  if ((await listPasses(db, rowKeyOf(row))).length >= REPLAYS_MAX) {
    const message = `The webhook has ${REPLAYS_MAX} running replays; wait until one is done.`;
    throw new ApiError('RESOURCE_CONFLICT', message);
  }
  await insertPass(db, rowKeyOf(row), { place: span.from - 1, last: span.to });
  const isOpen = access.userId === null;
  await recordOn(writer, 'webhook.replayed', id, isOpen ? { ...span } : undefined);
  return span;
}

async function spanSince({ db, access }: WebhookWriter, since: number, log: LogState): Promise<ChangeSpan> {
  if (isBeforeLog(log, since))
    throw invalid('since', `is too early: ${keptSince(log)}`, 'VALIDATION_OUT_OF_RANGE');
  return { from: await findSequenceAt(db, access.orgNumber, log, since), to: log.last };
}

function checked(span: ChangeSpan, { access }: WebhookWriter, { first, last }: LogState): ChangeSpan {
  if (access.userId !== null) throw invalid('from', 'cannot be used by a user-bound key; use since');
  const kept = last < first ? 'no change is kept' : `changes ${first} to ${last} are kept`;
  if (span.from < first) throw invalid('from', `is not kept: ${kept}`, 'VALIDATION_OUT_OF_RANGE');
  if (span.to > last) throw invalid('to', `does not exist yet: ${kept}`, 'VALIDATION_OUT_OF_RANGE');
  return span;
}
