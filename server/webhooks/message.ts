// What is sent to a webhook: a change in its envelope, with an ID that is the same in every attempt and replay.
import { createHmac } from 'node:crypto';
import type { Data } from '../../db/model/json.ts';

/** The body of a request, and the ID that it is sent with. */
export interface WebhookMessage {
  id: string;
  type: string;
  body: string;
}

/** Which change of which log is sent to which webhook. */
export interface MessageKey {
  webhookId: string;
  /** Of the log; sequence numbers are used again after a backup was restored. */
  epoch: string;
  sequence: number;
}

const BODY_BYTES_MAX = 65_536;

/**
 * The message for a change.
 * @param key of the database (`getWebhookKey`): without it, IDs do not reveal sequence numbers to user-bound keys
 */
export function changeMessage(key: string, of: MessageKey, change: Data): WebhookMessage {
  const type = typeOfChange(change);
  // Also by its instant: a database that lost its last changes gives their sequence numbers to others.
  const id = messageId(key, [of.webhookId, of.epoch, String(of.sequence), String(change.at)]);
  const whole = JSON.stringify({ type, timestamp: change.at, data: change });
  if (Buffer.byteLength(whole) <= BODY_BYTES_MAX) return { id, type, body: whole };
  const data = { ...change, before: null, after: null, record: null, truncated: true };
  return { id, type, body: JSON.stringify({ type, timestamp: change.at, data }) };
}

/** The message of a ping, which shows that requests arrive. */
export function pingMessage(
  key: string,
  { id, webhookId, at }: { id: string; webhookId: string; at: string },
): WebhookMessage {
  const body = { type: 'ping', timestamp: at, data: {} };
  return { id: messageId(key, [webhookId, 'ping', id]), type: 'ping', body: JSON.stringify(body) };
}

/** What webhooks subscribe to, such as `contacts.created`. */
function typeOfChange({ resource, action }: Data): string {
  return `${resource}.${action}`;
}

function messageId(key: string, parts: readonly string[]): string {
  const hash = createHmac('sha256', Buffer.from(key, 'hex')).update(`message\0${parts.join('\0')}`);
  return `msg_${hash.digest('base64url').slice(0, 27)}`;
}
