// Tells which webhooks do not get what they subscribe to.
import type { Db } from '../../db/engine/schema.ts';
import type { WebhookRow } from '../../db/engine/webhook-rows.ts';
import { type DisabledReason, listAllWebhooks } from '../../db/webhooks/webhooks.ts';
import { counted } from '../terminal/format.ts';
import { type Finding, ok, warn } from './finding.ts';

const FAILING_MS_MIN = 60 * 60 * 1_000;
const REASONS: Record<DisabledReason, string> = {
  key_revoked: 'its key was revoked',
  key_expired: 'its key has expired',
  gone: 'its URL responded with 410',
  failing: 'nothing could be delivered for 5 days',
};

/** The finding about webhooks, if there are any. `now` is in Unix milliseconds. */
export async function checkWebhooks(read: Db, now: number): Promise<Finding[]> {
  const rows = await listAllWebhooks(read);
  if (rows.length === 0) return [];
  const total = counted(rows.length, 'webhook');
  const wrong = rows.flatMap((row) => troubleOf(row, now) ?? []);
  const [first] = wrong;
  if (first === undefined) return [ok('webhooks', total)];
  const more = wrong.length > 1 ? `, and ${counted(wrong.length - 1, 'other')}` : '';
  const found = `${total}: ${first.id} ${first.trouble}${more}`;
  return [warn('webhooks', found, first.next)];
}

function troubleOf(
  { id, is_enabled, disabled_reason, failing_since }: WebhookRow,
  now: number,
): { id: string; trouble: string; next: string } | null {
  if (disabled_reason !== null) {
    const trouble = `was disabled, because ${REASONS[disabled_reason as DisabledReason]}`;
    return { id, trouble, next: `when that is resolved, run: crm webhooks update ${id} is_enabled=true` };
  }
  if (is_enabled === 0 || failing_since === null || now - failing_since < FAILING_MS_MIN) return null;
  const trouble = `has failed since ${new Date(failing_since).toISOString()}`;
  return { id, trouble, next: `see why: crm webhooks deliveries ${id}` };
}
