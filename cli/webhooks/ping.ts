// Carries out `crm webhooks ping`: has a ping sent, and waits for what comes of it.
import type { Data } from '../../db/model/json.ts';
import type { Client } from '../api/client.ts';
import { recordOf } from '../api/envelope.ts';
import { listAt, pagesOf } from '../api/pages.ts';
import { CliError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { printRecord } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';
import { DELIVERY_LOOK, webhookPath } from './fields.ts';
import { webhookAt } from './find.ts';

const WAIT_MS_MAX = 20_000;
const LOOK_EVERY_MS = 250;

/** Pings a webhook; throws unless it is delivered. */
export async function runWebhooksPing(given: string, _flags: unknown, config: Config): Promise<void> {
  const { client, id, path } = await webhookAt(config, given);
  const ping = recordOf(await client.request('POST', `${path}/ping`));
  const delivery = await outcomeOf(client, id, ping);
  if (config.output !== 'table') await printRecord(config, delivery, DELIVERY_LOOK);
  const { outcome, status, ms } = delivery;
  if (outcome === 'delivered') return note(`Delivered: the receiver responded with ${status} in ${ms} ms.`);
  const { message, next } = failureOf(delivery, id);
  throw new CliError(message, { nextSteps: [next] });
}

async function outcomeOf(client: Client, id: string, ping: Data): Promise<Data> {
  const end = performance.now() + WAIT_MS_MAX;
  let delivery = ping;
  while (delivery.outcome === 'pending' && performance.now() < end) {
    await Bun.sleep(LOOK_EVERY_MS);
    delivery = (await findDelivery(client, id, String(ping.id))) ?? delivery;
  }
  return delivery;
}

// Later deliveries come first, in the order of their IDs.
async function findDelivery(client: Client, id: string, wanted: string): Promise<Data | undefined> {
  for await (const { records } of pagesOf(client, listAt(webhookPath(id, '/deliveries')))) {
    const found = records.find((one) => one.id === wanted);
    if (found !== undefined || records.some((one) => String(one.id) < wanted)) return found;
  }
  return undefined;
}

function failureOf({ outcome, status }: Data, id: string): { message: string; next: string } {
  switch (outcome) {
    case 'pending':
      return {
        message: `The server has not sent the ping within ${WAIT_MS_MAX / 1_000} s.`,
        next: `look again later: crm webhooks deliveries ${id}`,
      };
    case 'failed':
      return {
        message: `The ping failed: the receiver ${status === null ? 'did not send a valid HTTP response' : `responded with ${status}`}.`,
        next: 'have the receiver respond with 200 or 204 once it has stored the message.',
      };
    case 'gone':
      return {
        message: 'The ping failed: the receiver responded with 410 (gone).',
        next: 'have the receiver respond with 200 or 204: a 410 to a change disables the webhook.',
      };
    case 'redirect':
      return {
        message: `The ping failed: the receiver responded with a redirect (${status}), which is not followed.`,
        next: `set the URL that it redirects to: crm webhooks update ${id} url=URL`,
      };
    case 'timeout':
      return {
        message: 'The ping failed: the receiver did not respond within 15 s.',
        next: 'have the receiver respond first, and process the message afterwards.',
      };
    case 'tls':
      return {
        message: 'The ping failed: the receiver has no valid TLS certificate for the name in the URL.',
        next: 'install a valid certificate for that name, with its full chain.',
      };
    case 'blocked':
      return {
        message: 'The ping was not sent: the name in the URL resolves to an address that is not public.',
        next: 'use a public address, or ask the operator to add "crm serve --webhooks-allow CIDR".',
      };
    default:
      return {
        message: 'The ping failed: the receiver could not be reached.',
        next: 'check the name and the port in the URL, and that the receiver runs.',
      };
  }
}
