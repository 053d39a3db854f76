// What can be done with a webhook besides changing it: a ping, a new secret, a replay; and what was delivered.
import { type Fault, requiredFault } from '../../db/model/faults.ts';
import type { Data } from '../../db/model/json.ts';
import { listDeliveries } from '../../db/webhooks/deliveries.ts';
import type { Answer, Call, Operation, ReadOperation, WriteOperation } from '../operation.ts';
import { parseInstant } from '../pipeline/query.ts';
import { rotateWebhook } from '../webhooks/manage.ts';
import { type ChangeSpan, pingWebhook, REPLAYS_MAX, replayChanges } from '../webhooks/send-again.ts';
import { showDelivery } from '../webhooks/shown.ts';
import { getVisibleWebhook, requireLog } from '../webhooks/visibility.ts';
import { answerPage, PAGE_PARAMETERS } from './paging.ts';
import {
  answerSecret,
  currentLog,
  placeOfRow,
  restoreSecret,
  WEBHOOK_READING,
  WEBHOOK_WRITING,
  WEBHOOKS_PATH,
  webhookIdOf,
} from './webhook-answers.ts';
import { deliverySchema, replayedSchema, replaySchema, webhookSecretSchema } from './webhook-schemas.ts';

/** The operations on one webhook that do not change its fields. */
export function webhookActions(): Operation[] {
  return [ping(), rotate(), replay(), deliveries()];
}

function ping(): WriteOperation {
  return {
    ...WEBHOOK_WRITING,
    successes: { 200: 'Done.' },
    errorStatuses: [404, 422],
    method: 'POST',
    path: `${WEBHOOKS_PATH}/{id}/ping`,
    id: 'pingWebhook',
    summary: 'Ping a webhook',
    description: `Sends \`{"type": "ping", "timestamp": …, "data": {}}\` once, soon after the response, also to a webhook that is disabled. Get its
outcome from the deliveries, by its \`id\`.`,
    answer: deliverySchema,
    answerKind: 'success',
    examples: { data: { sequence: null, type: 'ping', ms: null, status: null, outcome: 'pending' } },
    run: async (call): Promise<Answer> => {
      await requireLog(call);
      const delivery = await pingWebhook(call, webhookIdOf(call));
      return { status: 200, object: 'success', data: showDelivery(call.access, delivery) };
    },
  };
}

function rotate(): WriteOperation {
  return {
    ...WEBHOOK_WRITING,
    successes: { 200: 'Done.' },
    errorStatuses: [404, 422],
    method: 'POST',
    path: `${WEBHOOKS_PATH}/{id}/rotate`,
    id: 'rotateWebhook',
    summary: 'Give a webhook a new secret',
    description:
      'The response contains the new secret; no later one does. For 24 hours, both the new and the previous secret sign.',
    answer: webhookSecretSchema,
    answerKind: 'success',
    restore: restoreSecret,
    run: async (call): Promise<Answer> => {
      const log = await currentLog(call);
      return answerSecret(call, await rotateWebhook(call, webhookIdOf(call)), log);
    },
  };
}

function replay(): WriteOperation {
  return {
    ...WEBHOOK_WRITING,
    method: 'POST',
    path: `${WEBHOOKS_PATH}/{id}/replay`,
    id: 'replayWebhook',
    summary: 'Send changes to a webhook again',
    description: `Sends the changes that the webhook subscribes to again, with the same \`webhook-id\`, either \`since\` a time or \`from\` one sequence number
\`to\` another. User-bound keys use \`since\`. New changes are sent as before, and those of one record stay in order. A webhook can have
${REPLAYS_MAX} running replays; with more, or if it is disabled, the response is 409. Changes that are no longer kept return 422.`,
    body: replaySchema,
    inspect: replayFaults,
    answer: replayedSchema,
    answerKind: 'success',
    successes: { 200: 'Begun.' },
    errorStatuses: [404, 409, 413, 422],
    examples: { body: { since: '2026-01-31T09:30:00Z' } },
    run: async (call): Promise<Answer> => {
      const log = await currentLog(call);
      const { since, from, to } = call.body as Data;
      const wanted =
        since === undefined
          ? { from: Number(from), to: Number(to) }
          : { since: parseInstant(String(since)) ?? 0 };
      const span = await replayChanges(call, webhookIdOf(call), wanted, log);
      return { status: 200, object: 'success', data: shownSpan(call, span) };
    },
  };
}

function deliveries(): ReadOperation {
  const path = `${WEBHOOKS_PATH}/{id}/deliveries`;
  return {
    ...WEBHOOK_READING,
    method: 'GET',
    path,
    id: 'listWebhookDeliveries',
    summary: 'List the deliveries of a webhook',
    description:
      'Every attempt of the last 30 days, the newest first, without what was sent and without the body of the response.',
    query: PAGE_PARAMETERS,
    answer: deliverySchema,
    answerKind: 'list',
    successes: { 200: 'One page of deliveries.' },
    errorStatuses: [404, 422],
    run: async (call) => {
      await requireLog(call);
      const { id } = await getVisibleWebhook(call, webhookIdOf(call));
      const key = { orgNumber: call.access.orgNumber, id };
      return answerPage(call, path.replace('{id}', id), async ({ after, limit }) => {
        const rows = await listDeliveries(call.db, key, { before: after?.id ?? null, limit: limit + 1 });
        const items = rows.slice(0, limit).map((row) => showDelivery(call.access, row));
        return { items, hasNextPage: rows.length > limit, placeAfter: (index) => placeOfRow(rows[index]) };
      });
    },
  };
}

function shownSpan({ access }: Call, span: ChangeSpan | null): Data {
  return access.userId === null && span !== null ? { ...span } : { from: null, to: null };
}

function replayFaults({ since, from, to }: Data): Fault[] {
  if (since === undefined && from === undefined && to === undefined)
    return [{ path: 'since', message: 'is required, or from and to', code: 'VALIDATION_REQUIRED_FIELD' }];
  if (since !== undefined) {
    if (from !== undefined || to !== undefined)
      return [{ path: 'since', message: 'cannot be combined with from and to', code: 'VALIDATION_FAILED' }];
    const isRead = typeof since === 'string' || typeof since === 'number';
    if (!isRead || parseInstant(String(since)) !== undefined) return [];
    const message = 'must be a date and time such as 2026-01-31T09:30:00Z, or Unix milliseconds';
    return [{ path: 'since', message, code: 'VALIDATION_INVALID_FORMAT' }];
  }
  if (from === undefined) return [requiredFault('from')];
  if (to === undefined) return [requiredFault('to')];
  if (Number(from) <= Number(to)) return [];
  return [{ path: 'to', message: 'must not be less than from', code: 'VALIDATION_OUT_OF_RANGE' }];
}
