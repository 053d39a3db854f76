// The webhook that a command names, by its ID, its short ID or the beginning of its ID.
import type { Client } from '../api/client.ts';
import { connect } from '../api/connect.ts';
import { notCertain } from '../api/find-id.ts';
import { commandForIds } from '../api/ids.ts';
import { listAt, pagesOf } from '../api/pages.ts';
import { checkedId } from '../api/target.ts';
import { CliError } from '../errors.ts';
import { idRangeOf } from '../input/short-id.ts';
import type { Config } from '../settings/config.ts';
import { webhookPath } from './fields.ts';

/** A client, and the webhook that the text means; its whole ID is taken as it is. */
export async function webhookAt(
  config: Config,
  text: string,
): Promise<{ client: Client; id: string; path: string }> {
  checkedId(text);
  const client = await connect(config);
  const id = await wholeWebhookId(client, text);
  return { client, id, path: webhookPath(id) };
}

async function wholeWebhookId(client: Client, text: string): Promise<string> {
  const range = idRangeOf(text);
  if (range === undefined) return text;
  // An organization has few.
  const pages = await Array.fromAsync(pagesOf(client, listAt(webhookPath())));
  const meant = pages.flatMap(({ records }) => records).filter(({ id }) => range.has(String(id)));
  const [webhook, ...others] = meant;
  if (webhook !== undefined && others.length === 0) return String(webhook.id);
  if (webhook !== undefined) throw notCertain('webhooks', text, meant);
  throw new CliError(`There is no webhook with the ID "${text}".`, {
    nextSteps: [`${commandForIds('webhooks')}   (lists the IDs)`],
  });
}
