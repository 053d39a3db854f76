// Sends one webhook request from a process of its own, whose environment says which certificates it trusts, and prints the attempt.
import { parseNetwork } from '../../db/networks.ts';
import { addressJudge } from '../../server/webhooks/addresses.ts';
import { WebhookSender } from '../../server/webhooks/sender.ts';

const [url = '', ...addresses] = process.argv.slice(2);
const judge = addressJudge([parseNetwork('127.0.0.0/8')].flatMap((network) => network ?? []));
const sender = new WebhookSender({ judge, resolve: async () => addresses, timeoutMs: 60_000 });
console.log(JSON.stringify(await sender.send({ url, headers: {}, body: '{}' })));
