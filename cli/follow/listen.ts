// Carries out `crm listen`: sends changes to a local address as webhooks, or prints them.
import { EVERY_EVENT, isSubscribed, namedResources } from '../../server/webhooks/events.ts';
import { connect } from '../api/connect.ts';
import { isLoopback } from '../api/loopback.ts';
import { usageError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { jsonText } from '../terminal/output.ts';
import { note, stdout, writeOut, writeValues } from '../terminal/streams.ts';
import { terminalWidth } from '../terminal/wrap.ts';
import type { FeedChange } from './change.ts';
import { changeLine } from './change-line.ts';
import { explainFeedError, followFeed, positionAt } from './feed.ts';
import { chosenEvents, forwardUrl, signingSecret } from './forward-target.ts';
import { type Delivery, deliveryText, Forwarder } from './forwarder.ts';
import { Names } from './names.ts';
import { OutageNotes } from './outage.ts';
import { Stop } from './stop.ts';

export interface ListenFlags {
  forward?: string;
  events?: string[];
  secret?: string;
}

/** Follows the changes from now on until it is stopped. */
export async function runListen(flags: ListenFlags, config: Config): Promise<void> {
  const { output } = config;
  const events = chosenEvents(flags.events);
  const url = flags.forward === undefined ? null : forwardUrl(flags.forward);
  const secret = signingSecret(flags.secret);
  if (output === 'csv') throw usageError('"crm listen" does not print CSV.', 'use -o table, json or ndjson.');
  if (url === null && flags.secret !== undefined)
    throw usageError('--secret signs what is forwarded.', 'add --forward URL.');
  const outage = new OutageNotes();
  const client = await connect(config, outage.onWait);
  using stop = new Stop(true);
  const { signal } = stop;
  const names = new Names(client, signal);
  const forwarder = url === null ? null : new Forwarder(url, secret, signal);
  const resources = events.includes(EVERY_EVENT) ? [] : namedResources(events);
  let isGreeted = false;
  const onResponse = () => {
    outage.onResponse();
    if (!isGreeted) greet(events, url, secret);
    isGreeted = true;
  };
  try {
    const options = { resources, position: positionAt('now'), signal, onResponse };
    for await (const { changes } of followFeed(client, options)) {
      for (const change of changes) {
        if (!isSubscribed(events, `${change.resource}.${change.action}`)) continue;
        const delivery = forwarder === null ? undefined : await forwarder.send(change);
        if (delivery === null) break;
        await print(change, delivery, names, config);
      }
      if (stop.isRequested) break;
    }
  } catch (error) {
    if (!stop.isRequested) throw explainFeedError(error, null);
  }
  process.exitCode = stop.exitCode;
}

function greet(events: readonly string[], url: string | null, secret: string): void {
  const what = events.includes(EVERY_EVENT) ? 'changes' : events.join(', ');
  if (url === null) {
    note(`crm: listening to ${what}; Ctrl-C ends`);
    return;
  }
  const { protocol, hostname } = new URL(url);
  if (protocol === 'http:' && !isLoopback(hostname))
    note(`crm: warning: changes are sent unencrypted to ${hostname}.`);
  note(`Signing secret: ${secret}`);
  note(`crm: forwarding ${what} to ${url}; Ctrl-C ends`);
}

async function print(
  change: FeedChange,
  delivery: Delivery | undefined,
  names: Names,
  { output, isColored }: Config,
): Promise<void> {
  const indent = output === 'json' ? 2 : undefined;
  if (output !== 'table') {
    const type = `${change.resource}.${change.action}`;
    await writeValues(`${jsonText(delivery ?? { type, timestamp: change.at, data: change }, indent)}\n`);
    return;
  }
  await names.learn([change]);
  const outcome = delivery && { text: deliveryText(delivery), isGood: delivery.outcome === 'delivered' };
  const layout = {
    columns: terminalWidth(stdout),
    isColored,
    nowMs: Date.now(),
    ...(outcome && { outcome }),
  };
  await writeOut(changeLine(change, names, layout));
}
