// What a webhook sees of the log of changes: what its key can read now, of what it subscribes to.

import { findKeyByNumber } from '../../db/accounts/keys.ts';
import type { ChangeRange } from '../../db/changes/queries.ts';
import type { Db } from '../../db/engine/schema.ts';
import type { WebhookDeliveryRow, WebhookRow } from '../../db/engine/webhook-rows.ts';
import { instantText } from '../../db/model/instants.ts';
import type { Store } from '../../db/store.ts';
import type { DisabledReason } from '../../db/webhooks/webhooks.ts';
import { type Access, accessOfKey } from '../access.ts';
import { readFeed, readViews } from '../records/change-feed.ts';
import type { ChangeView } from '../records/change-views.ts';
import { openWebhookSecret } from '../signing/webhook-secrets.ts';
import { eventsOf, isSubscribed, subscribedResources } from './events.ts';
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

/** The changes in a range that a webhook subscribes to and sees, in order, and what of the range was not read for them. */
export async function readSubscribed(
  db: Db,
  { access, events }: Pick<WebhookSight, 'access' | 'events'>,
  range: ChangeRange,
  limit: number,
): Promise<{ views: ChangeView[]; rest: ChangeRange }> {
  const resources = subscribedResources(events, access);
  if (resources.length === 0) return { views: [], rest: { from: range.to + 1, to: range.to } };
  const filters = { resources, recordId: null, action: null, request: null };
  const { views, rest } = await readViews({ db, access }, { filters, direction: 'asc', range, limit });
  const isWanted = ({ resource, action }: ChangeView) => isSubscribed(events, `${resource.name}.${action}`);
  return { views: views.filter(isWanted), rest };
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
    const key = await findKeyByNumber(this.#store.read, row.org_id, row.key_number);
    if (key === undefined || key.revoked_at !== null) return 'key_revoked';
    if (key.expires_at !== null && key.expires_at <= now) return 'key_expired';
    return { row, access: accessOfKey(key), events: eventsOf(row) };
  }

  /** Changes that the webhook subscribes to, in order, and up to which sequence number the log was read for them. */
  async scan(
    sight: WebhookSight,
    range: ChangeRange,
    limit: number,
  ): Promise<{ changes: SubscribedChange[]; cursor: number }> {
    const { views, rest } = await readSubscribed(this.#store.read, sight, range, limit);
    const changes = views.map(({ row: { sequence, resource }, recordId: record }) => {
      return { sequence, resource, record };
    });
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
