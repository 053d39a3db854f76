// Webhooks and deliveries as responses show them.

import { findKeysByNumber } from '../../db/accounts/keys.ts';
import type { LogState } from '../../db/changes/log-state.ts';
import type { ApiKeyRow, Db } from '../../db/engine/schema.ts';
import type { WebhookDeliveryRow, WebhookRow } from '../../db/engine/webhook-rows.ts';
import { TimeSlices } from '../../db/event-loop.ts';
import { instantText } from '../../db/model/instants.ts';
import type { Data } from '../../db/model/json.ts';
import { countWaiting } from '../../db/webhooks/queue.ts';
import { type Access, accessOfKey } from '../access.ts';
import { eventsOf } from './events.ts';
import { readSubscribed } from './webhook-scanner.ts';

/** How many changes after the place of a webhook are examined to count those that it is still to get. */
export const COUNTED_CHANGES_MAX = 1_000;

/** Webhooks of an organization, in the order given. */
export async function showWebhooks(db: Db, rows: readonly WebhookRow[], log: LogState): Promise<Data[]> {
  const [first] = rows;
  if (first === undefined) return [];
  const orgNumber = first.org_id;
  const owners = await findKeysByNumber(
    db,
    orgNumber,
    rows.map(({ key_number }) => key_number),
  );
  const keys = new Map(owners.map((key) => [key.number, key]));
  const waiting = await countWaiting(db, orgNumber);
  const shown: Data[] = [];
  const turns = new TimeSlices();
  for (const row of rows) {
    if (turns.isOver) await turns.next();
    const owner = keys.get(row.key_number);
    const pending = (waiting.get(row.id) ?? 0) + (await countAfterPlace(db, row, owner, log));
    shown.push(showWebhook(row, owner, pending));
  }
  return shown;
}

async function countAfterPlace(
  db: Db,
  row: WebhookRow,
  owner: ApiKeyRow | undefined,
  log: LogState,
): Promise<number> {
  const from = Math.max(row.place + 1, log.first);
  const to = Math.min(log.last, from + COUNTED_CHANGES_MAX - 1);
  if (owner === undefined || row.epoch !== log.epoch || from > to) return 0;
  const sight = { access: accessOfKey(owner), events: eventsOf(row) };
  const { views } = await readSubscribed(db, sight, { from, to }, COUNTED_CHANGES_MAX);
  return views.length;
}

function showWebhook(row: WebhookRow, owner: ApiKeyRow | undefined, pending: number): Data {
  return {
    id: row.id,
    url: row.url,
    events: eventsOf(row),
    description: row.description,
    is_enabled: row.is_enabled === 1,
    disabled_reason: row.disabled_reason,
    key_id: owner?.id ?? null,
    pending_count: pending,
    last_success_at: instantOrNull(row.last_success_at),
    skipped_at: instantOrNull(row.skipped_at),
    created_at: instantText(row.created_at),
    updated_at: instantText(row.updated_at),
  };
}

/** A delivery, for a key that can see its webhook; user-bound keys get no sequence numbers. */
export function showDelivery({ userId }: Access, row: WebhookDeliveryRow): Data {
  const { id, sequence, type, attempt, at, ms, status, outcome, next_attempt_at } = row;
  return {
    id,
    sequence: userId === null ? sequence : null,
    type,
    attempt,
    at: instantText(at),
    ms,
    status,
    outcome,
    next_attempt_at: instantOrNull(next_attempt_at),
  };
}

function instantOrNull(instant: number | null): string | null {
  return instant === null ? null : instantText(instant);
}
