// Carries out `crm webhooks`, except `ping`.
import type { Data } from '../../db/model/json.ts';
import { requestBody, sentBody } from '../api/body.ts';
import { connect } from '../api/connect.ts';
import { recordOf } from '../api/envelope.ts';
import { IdFinder } from '../api/id-finder.ts';
import { listAt, pagesOf } from '../api/pages.ts';
import { usageError } from '../errors.ts';
import { shortIdOf } from '../input/short-id.ts';
import type { Config } from '../settings/config.ts';
import { limitOf } from '../settings/options.ts';
import { sinceMs } from '../settings/since.ts';
import { createPrinter, NOTHING_WRITTEN, printRecord } from '../terminal/output.ts';
import { confirmDelete, requireTerminal } from '../terminal/questions.ts';
import { note, stdout, writeOut } from '../terminal/streams.ts';
import { DELIVERY_LOOK, WEBHOOK_FIELDS, WEBHOOK_LOOK, webhookPath } from './fields.ts';
import { webhookAt } from './find.ts';

interface WebhookWrite {
  data?: string;
  dryRun?: boolean;
}

/** Prints all webhooks. */
export async function runWebhooksList(_flags: unknown, config: Config): Promise<void> {
  // A terminal has no room for whole IDs.
  const isShort = config.output === 'table' && stdout.isTTY;
  const printer = createPrinter(config, WEBHOOK_LOOK);
  for await (const page of pagesOf(await connect(config), listAt(webhookPath())))
    await printer.print(
      isShort ? page.records.map((one) => ({ ...one, id: shortIdOf(String(one.id)) })) : page.records,
    );
  await printer.end();
}

/** Prints a webhook. */
export async function runWebhooksGet(id: string, _flags: unknown, config: Config): Promise<void> {
  const { client, path } = await webhookAt(config, id);
  await printRecord(config, recordOf(await client.request('GET', path)), WEBHOOK_LOOK);
}

/** Creates a webhook, and prints it with its secret. */
export async function runWebhooksCreate(
  pairs: string[],
  { data, dryRun: isDryRun = false }: WebhookWrite,
  config: Config,
): Promise<void> {
  const body = await requestBody(data, pairs, WEBHOOK_FIELDS);
  const client = await connect(config);
  const sent = await sentBody(body, new IdFinder(client));
  const webhook = recordOf(await client.request('POST', webhookPath(), { ...sent, isDryRun }));
  if (isDryRun) {
    const { secret: _, ...rest } = webhook;
    note(NOTHING_WRITTEN);
    return printRecord(config, rest, WEBHOOK_LOOK);
  }
  await printWithSecret(config, webhook);
  note(`Next: crm webhooks ping ${webhook.id}   (sends a test message and reports the result)`);
}

/** Changes the given fields of a webhook, and prints it. */
export async function runWebhooksUpdate(
  id: string,
  pairs: string[],
  { data, dryRun: isDryRun = false }: WebhookWrite,
  config: Config,
): Promise<void> {
  const body = await requestBody(data, pairs, WEBHOOK_FIELDS);
  const { client, path } = await webhookAt(config, id);
  const sent = await sentBody(body, new IdFinder(client));
  const webhook = recordOf(await client.request('PATCH', path, { ...sent, isDryRun }));
  if (isDryRun) note(NOTHING_WRITTEN);
  await printRecord(config, webhook, WEBHOOK_LOOK);
  if (webhook.skipped_at !== null && webhook.skipped_at === webhook.updated_at) {
    note('The changes since it was disabled are no longer kept. It begins with the next change.');
    note('Next: Copy the records again if you need what it missed.');
  }
}

/** Deletes a webhook after a person or --yes confirms it. */
export async function runWebhooksDelete(
  given: string,
  { yes = false, dryRun: isDryRun = false }: { yes?: boolean; dryRun?: boolean },
  config: Config,
): Promise<void> {
  const isSure = yes || isDryRun;
  if (!isSure) requireTerminal();
  const { client, path, id } = await webhookAt(config, given);
  if (!isSure) await confirmDelete(`webhook ${id}`);
  await client.request('DELETE', path, { isDryRun });
  note(isDryRun ? `Would delete webhook ${id}. Nothing was written.` : `Deleted webhook ${id}.`);
}

/** Gives a webhook a new secret, and prints it. */
export async function runWebhooksRotate(id: string, _flags: unknown, config: Config): Promise<void> {
  const { client, path } = await webhookAt(config, id);
  await printWithSecret(config, recordOf(await client.request('POST', `${path}/rotate`)));
  note('For 24 hours, the old secret signs too. Switch your receiver to the new one by then.');
}

// The secret on a line of its own, so that it is whole on a narrow terminal.
async function printWithSecret(config: Config, webhook: Data): Promise<void> {
  const { secret, ...rest } = webhook;
  if (config.output !== 'table')
    return printRecord(config, webhook, {
      ...WEBHOOK_LOOK,
      allFields: [...WEBHOOK_LOOK.allFields, 'secret'],
    });
  await printRecord(config, rest, WEBHOOK_LOOK);
  await writeOut(
    `\nIts secret, shown only once. Store it where you receive the changes, to check their signatures:\n\n${secret}\n\n`,
  );
}

/** Has changes replayed. */
export async function runWebhooksReplay(
  given: string,
  { since, from, to }: { since?: string; from?: number; to?: number },
  config: Config,
): Promise<void> {
  const body =
    since === undefined ? spanOf(from, to) : { since: new Date(sinceMs(since, Date.now())).toISOString() };
  const { client, path, id } = await webhookAt(config, given);
  const replayed = recordOf(await client.request('POST', `${path}/replay`, { body }));
  if (config.isOutputGiven && config.output !== 'table')
    return printRecord(config, replayed, { columns: ['from', 'to'], allFields: ['from', 'to'] });
  const changes =
    replayed.from === null ? 'any changes since then' : `changes ${replayed.from} to ${replayed.to}`;
  note(`Replaying ${changes} to webhook ${id}, if it subscribes to them.`);
  note(`Next: crm webhooks deliveries ${id}`);
}

function spanOf(from: number | undefined, to: number | undefined): Data {
  if (from !== undefined && to !== undefined) return { from, to };
  throw usageError('Specify which changes to replay.', 'add --since TIME, or both --from N and --to N.');
}

/** Prints attempts to deliver, newest first. */
export async function runWebhooksDeliveries(
  id: string,
  flags: { limit?: number; all?: boolean },
  config: Config,
): Promise<void> {
  const { client, path } = await webhookAt(config, id);
  const list = listAt(`${path}/deliveries`);
  const printer = createPrinter(config, DELIVERY_LOOK);
  let hasMore = false;
  for await (const page of pagesOf(client, list, { limit: limitOf(flags) })) {
    await printer.print(page.records);
    hasMore = page.nextCursor !== null;
  }
  await printer.end();
  if (hasMore) note('More deliveries exist. To list them, add --limit N or --all.');
}
