// Webhooks: where changes are sent.
import type { Fault } from '../../db/model/faults.ts';
import type { Data } from '../../db/model/json.ts';
import type { Network } from '../../db/networks.ts';
import { listWebhooks, WEBHOOKS_MAX } from '../../db/webhooks/webhooks.ts';
import type { Answer, Operation, ReadOperation, WriteOperation } from '../operation.ts';
import { addressJudge } from '../webhooks/addresses.ts';
import { eventFaults } from '../webhooks/events.ts';
import { changeWebhook, createWebhook, removeWebhook, type WebhookInput } from '../webhooks/manage.ts';
import { ATTEMPTS_MAX } from '../webhooks/retries.ts';
import { showWebhooks } from '../webhooks/shown.ts';
import { urlFault } from '../webhooks/target-url.ts';
import { getVisibleWebhook, requireLog } from '../webhooks/visibility.ts';
import { answerPage, PAGE_PARAMETERS } from './paging.ts';
import { webhookActions } from './webhook-actions.ts';
import {
  answerSecret,
  answerWebhook,
  currentLog,
  placeOfRow,
  restoreSecret,
  WEBHOOK_READING,
  WEBHOOK_WRITING,
  WEBHOOKS_PATH,
  webhookIdOf,
} from './webhook-answers.ts';
import {
  createWebhookSchema,
  updateWebhookSchema,
  webhookSchema,
  webhookSecretSchema,
} from './webhook-schemas.ts';

/** The operations on webhooks; `allowed` are the networks that they can reach besides public addresses. */
export function webhookOperations(allowed: readonly Network[]): Operation[] {
  const inspect = inspector(allowed);
  return [list(), create(inspect), get(), update(inspect), remove(), ...webhookActions()];
}

const LIST_DESCRIPTION = `A webhook gets a POST for each change that it subscribes to, soon after it happened, signed as in the
Standard Webhooks specification. The body is \`{"type": "contacts.updated", "timestamp": …, "data": …}\`
with the change as \`data\`. A body of over 64 KiB has \`truncated: true\` in \`data\`, with \`before\`, \`after\` and \`record\` null.

Respond with 2xx within 15 seconds. Otherwise the change is sent again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h.
After ${ATTEMPTS_MAX} failed attempts it is given up; a replay sends it again. The changes of one record arrive in order. A change can
arrive more than once: \`webhook-id\` is the same in each attempt, so that you can recognize what you already have.

A webhook gets what the key that made it can read when a change is sent. A user-bound key sees only the webhooks of its user. To change
or use a webhook, a key needs every read scope that the key that made it has. If that key is revoked or expires, its webhooks
are disabled. So is one whose URL responds with 410, or to which nothing could be delivered for 5 days.

If the operator keeps no changes, these paths return 404.`;

function list(): ReadOperation {
  return {
    ...WEBHOOK_READING,
    method: 'GET',
    path: WEBHOOKS_PATH,
    id: 'listWebhooks',
    summary: 'List webhooks',
    description: LIST_DESCRIPTION,
    query: PAGE_PARAMETERS,
    answer: webhookSchema,
    answerKind: 'list',
    successes: { 200: 'One page of webhooks, the newest first.' },
    errorStatuses: [404, 422],
    run: async (call) => {
      const log = await requireLog(call);
      const rows = (await listWebhooks(call.db, call.access)).reverse();
      return answerPage(call, WEBHOOKS_PATH, async ({ after, limit }) => {
        const rest = after === null ? rows : rows.filter(({ id }) => id < after.id);
        const items = await showWebhooks(call.db, rest.slice(0, limit), log);
        return { items, hasNextPage: rest.length > limit, placeAfter: (index) => placeOfRow(rest[index]) };
      });
    },
  };
}

function create(inspect: (body: Data) => Fault[]): WriteOperation {
  return {
    ...WEBHOOK_WRITING,
    method: 'POST',
    path: WEBHOOKS_PATH,
    id: 'createWebhook',
    summary: 'Create a webhook',
    description: `An organization can have ${WEBHOOKS_MAX} webhooks. The response contains the secret that signs what is sent; no later one does.

The webhook begins with the next change; replay sends earlier ones. It needs the read scope of each resource that it
subscribes to. \`*\` needs any, and stands for all that the key can read.`,
    body: createWebhookSchema,
    inspect,
    answer: webhookSecretSchema,
    answerKind: 'success',
    successes: { 201: 'Created.' },
    errorStatuses: [404, 413, 422],
    restore: restoreSecret,
    run: async (call): Promise<Answer> => {
      const log = await currentLog(call);
      const made = await createWebhook(call, call.body as Data & WebhookInput, log);
      return {
        ...(await answerSecret(call, made, log)),
        status: 201,
        location: `${WEBHOOKS_PATH}/${made.row.id}`,
      };
    },
  };
}

function get(): ReadOperation {
  return {
    ...WEBHOOK_READING,
    method: 'GET',
    path: `${WEBHOOKS_PATH}/{id}`,
    id: 'getWebhook',
    summary: 'Get a webhook',
    query: {},
    answer: webhookSchema,
    answerKind: 'success',
    successes: { 200: 'Found.' },
    errorStatuses: [404, 422],
    run: async (call): Promise<Answer> => {
      const log = await requireLog(call);
      return answerWebhook(call, await getVisibleWebhook(call, webhookIdOf(call)), log);
    },
  };
}

function update(inspect: (body: Data) => Fault[]): WriteOperation {
  return {
    ...WEBHOOK_WRITING,
    method: 'PATCH',
    path: `${WEBHOOKS_PATH}/{id}`,
    id: 'updateWebhook',
    summary: 'Update a webhook',
    description: `Changes only the fields you send. What waits for another attempt is sent to the new \`url\`, at once.

A webhook that is enabled again continues where it was. If the changes from there are no longer kept, it begins with the next
change, and \`skipped_at\` says so. If the key that made it no longer works, it then gets what the key of this request can read.`,
    body: updateWebhookSchema,
    inspect,
    answer: webhookSchema,
    answerKind: 'success',
    successes: { 200: 'Updated.' },
    errorStatuses: [404, 413, 422],
    run: async (call): Promise<Answer> => {
      const log = await currentLog(call);
      const row = await changeWebhook(call, webhookIdOf(call), call.body as Partial<WebhookInput>, log);
      return answerWebhook(call, row, log);
    },
  };
}

function remove(): WriteOperation {
  return {
    ...WEBHOOK_WRITING,
    method: 'DELETE',
    path: `${WEBHOOKS_PATH}/{id}`,
    id: 'deleteWebhook',
    summary: 'Delete a webhook',
    description: 'What waits to be sent to it is not sent, and its deliveries are no longer listed.',
    answerKind: 'none',
    successes: { 204: 'Deleted. The response has no body.' },
    errorStatuses: [404, 422],
    run: async (call): Promise<Answer> => {
      await requireLog(call);
      await removeWebhook(call, webhookIdOf(call));
      return { status: 204 };
    },
  };
}

function inspector(allowed: readonly Network[]): (body: Data) => Fault[] {
  const judge = addressJudge(allowed);
  return ({ url, events }) => {
    const wrong = typeof url === 'string' && url !== '' ? urlFault(url, judge, allowed.length > 0) : null;
    const listed = Array.isArray(events) && events.every((event) => typeof event === 'string') ? events : [];
    return [
      ...(wrong === null ? [] : [{ path: 'url', message: wrong, code: 'VALIDATION_FAILED' } as const]),
      ...eventFaults(listed),
    ];
  };
}
