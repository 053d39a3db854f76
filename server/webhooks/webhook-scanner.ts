// What a webhook sees of the log of changes: what its key can read now, of what it subscribes to.

import type { WebhookDeliveryRow, WebhookRow } from '../../db/engine/webhook-rows.ts';
import { instantText } from '../../db/model/instants.ts';
import type { Store } from '../../db/store.ts';
import type { ChangeRange } from '../../db/tables/change-queries.ts';
import { findWebhookKey } from '../../db/tables/webhook-progress.ts';
import type { DisabledReason } from '../../db/tables/webhooks.ts';
import { type Access, accessOfKey } from '../access.ts';
import { readFeed, readViews } from '../records/change-feed.ts';
import { openWebhookSecret } from '../signing/webhook-secrets.ts';
import { isSubscribed, subscribedResources } from './events.ts';
import { changeMessage, pingMessage, type WebhookMessage } from './message.ts';

/** Where a change is, and which record it concerns. */
export interface SubscribedChange {
  sequence: number;
  /** As in the log. */
  resource: number;
  /** ID of the record. */
  record: string;
}

/** A webhook as its key sees it at this moment. */
export interface WebhookSight {
  row: WebhookRow;
  access: Access;
  events: readonly string[];
}

export class WebhookScanner {
  readonly #store: Pick<Store, 'read'>;
  readonly #key: string;

  /** @param key of the database (`getWebhookKey`) */
  constructor(store: Pick<Store, 'read'>, key: string) {
    this.#store = store;
    this.#key = key;
  }

  /** What the webhook can see now, or why it can see nothing any more. `now` is in Unix milliseconds. */
  async look(row: WebhookRow, now: number): Promise<WebhookSight | DisabledReason> {
    const key = await findWebhookKey(this.#store.read, row);
    if (key === undefined || key.revoked_at !== null) return 'key_revoked';
    if (key.expires_at !== null && key.expires_at <= now) return 'key_expired';
    return { row, access: accessOfKey(key), events: JSON.parse(row.events) as string[] };
  }

  /** Changes that the webhook subscribes to, in order, and up to which sequence number the log was read for them. */
  async scan(
    { access, events }: WebhookSight,
    range: ChangeRange,
    limit: number,
  ): Promise<{ changes: SubscribedChange[]; cursor: number }> {
    const resources = subscribedResources(events, access);
    if (resources.length === 0) return { changes: [], cursor: range.to };
    const filters = { resources, recordId: null, action: null, request: null };
    const request = { filters, direction: 'asc' as const, range, limit };
    const { views, rest } = await readViews({ db: this.#store.read, access }, request);
    const changes = views
      .filter(({ resource, action }) => isSubscribed(events, `${resource.name}.${action}`))
      .map(({ row, recordId }) => ({ sequence: row.sequence, resource: row.resource, record: recordId }));
    return { changes, cursor: rest.from - 1 };
  }

  /** The message for a change; null if it is not kept any more, or the webhook no longer sees it. */
  async message(
    { access, events, row }: WebhookSight,
    epoch: string,
    sequence: number,
  ): Promise<WebhookMessage | null> {
    const resources = subscribedResources(events, access);
    const filters = { resources, recordId: null, action: null, request: null };
    const range = { from: sequence, to: sequence };
    const reader = { db: this.#store.read, access };
    const { items } = await readFeed(reader, { filters, direction: 'asc', range, limit: 1 });
    const [change] = items;
    if (change === undefined || !isSubscribed(events, `${change.resource}.${change.action}`)) return null;
    return changeMessage(this.#key, { webhookId: row.id, epoch, sequence }, change);
  }

  /** The message of a ping. */
  ping({ id, webhook_id: webhookId, at }: WebhookDeliveryRow): WebhookMessage {
    return pingMessage(this.#key, { id, webhookId, at: instantText(at) });
  }

  /** The secrets that sign now. `now` is in Unix milliseconds. */
  secrets({ id, secret, previous_secret, previous_secret_until }: WebhookRow, now: number): string[] {
    const isRotating = previous_secret !== null && (previous_secret_until ?? 0) > now;
    const sealed = isRotating ? [secret, previous_secret] : [secret];
    return sealed.map((one) => openWebhookSecret(this.#key, one, id));
  }
}
