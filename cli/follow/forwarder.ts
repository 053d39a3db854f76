// Sends changes to a receiver as the server sends a webhook, one after the other.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Data } from '../../db/model/json.ts';
import { changeMessage } from '../../server/webhooks/message.ts';
import { type AttemptOutcome, WebhookSender } from '../../server/webhooks/sender.ts';
import { signatureHeaders } from '../../server/webhooks/signature.ts';
import { formatTime } from '../terminal/format.ts';
import { note } from '../terminal/streams.ts';
import type { FeedChange } from './change.ts';

/** What became of a change. */
export interface Delivery {
  webhook_id: string;
  type: string;
  sequence: number | null;
  resource: string;
  record_id: string;
  outcome: AttemptOutcome;
  /** Of the receiver's answer; null without one. */
  status: number | null;
  ms: number;
}

const RETRY_MS = 1_000;

const WITHOUT_ANSWER: Partial<Record<AttemptOutcome, string>> = {
  timeout: 'no answer in 15 s',
  tls: 'its certificate is not trusted',
  failed: 'the answer is not HTTP',
};

/** Sends to one address, with one secret. */
export class Forwarder {
  readonly #url: string;
  readonly #secret: string;
  readonly #signal: AbortSignal;
  // The operator of a server decides where webhooks go; here it is the user.
  readonly #sender = new WebhookSender({ judge: () => 'allowed' });
  // IDs are the same in every attempt for a change, and differ from run to run.
  readonly #key = crypto.getRandomValues(Buffer.alloc(32)).toString('hex');
  #count = 0;

  constructor(url: string, secret: string, signal: AbortSignal) {
    this.#url = url;
    this.#secret = secret;
    this.#signal = signal;
  }

  /** Sends a change, and waits as long as nobody listens at the address; null if it was told to stop. */
  async send(change: FeedChange): Promise<Delivery | null> {
    this.#count += 1;
    const of = { webhookId: this.#url, epoch: '', sequence: this.#count };
    const { id, type, body } = changeMessage(this.#key, of, change as unknown as Data);
    for (let isFirst = true; !this.#signal.aborted; isFirst = false) {
      const timestamp = Math.floor(Date.now() / 1_000);
      const headers = signatureHeaders({ id, timestamp, body }, [this.#secret]);
      const attempt = await this.#sender.send({ url: this.#url, headers, body }, this.#signal);
      if (attempt === null) break;
      const { outcome, status, ms } = attempt;
      if (outcome !== 'unreachable') {
        const { sequence, resource, record_id } = change;
        return { webhook_id: id, type, sequence, resource, record_id, outcome, status, ms };
      }
      if (isFirst) note(`crm: nothing answers at ${this.#url}; trying again`);
      await sleep(RETRY_MS, undefined, { signal: this.#signal }).catch(() => {});
    }
    return null;
  }
}

/** What became of a change, in words. */
export function deliveryText({ outcome, status, ms }: Delivery): string {
  const answer = status === null ? (WITHOUT_ANSWER[outcome] ?? outcome) : String(status);
  return `${answer} (${formatTime(ms / 1_000)})`;
}
