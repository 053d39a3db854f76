// Rows of webhooks, and of what is sent to them. All times are in Unix milliseconds.

export interface WebhookRow {
  org_id: number;
  id: string;
  url: string;
  /** A JSON array of what it subscribes to, such as `["contacts.created", "deals.*"]`. */
  events: string;
  description: string | null;
  /** 0 or 1. */
  is_enabled: number;
  /** Why it was disabled without a client asking for it. */
  disabled_reason: string | null;
  /** The number of the key that made it, whose access it has. */
  key_number: number;
  /** The user of that key, if it is user-bound. */
  user_id: string | null;
  /** Encrypted. */
  secret: string;
  /** The secret before the last rotation, which also signs until then; encrypted. */
  previous_secret: string | null;
  previous_secret_until: number | null;
  /** Up to this sequence number, each change was delivered or given up, or is in `webhook_waiting`. */
  place: number;
  /** The epoch of the log that the place belongs to. */
  epoch: string;
  /** When it last skipped changes that were no longer kept. */
  skipped_at: number | null;
  /** The first failure after which there was no success. */
  failing_since: number | null;
  last_success_at: number | null;
  /** The server that sends to it. */
  lease_holder: string | null;
  /** By the clock of the database. */
  lease_until: number | null;
  created_at: number;
  updated_at: number;
}

/** A replay that is not finished. */
export interface WebhookPassRow {
  org_id: number;
  webhook_id: string;
  /** From 1; 0 stands for the place of the webhook itself, which has no row here. */
  pass: number;
  /** As that of the webhook. */
  place: number;
  /** The sequence number with which the replay ends. */
  last: number;
}

/** A change that waits for another attempt, or for an earlier change of its record. */
export interface WebhookWaitingRow {
  org_id: number;
  webhook_id: string;
  pass: number;
  sequence: number;
  /** As in the log of changes. */
  resource: number;
  /** ID of the record. */
  record: string;
  /** Attempts that were made; 0 for one that waits for another change. */
  attempt: number;
  next_attempt_at: number | null;
}

/** An attempt to deliver a change or a ping. */
export interface WebhookDeliveryRow {
  org_id: number;
  webhook_id: string;
  id: string;
  /** Of the change; null for a ping. */
  sequence: number | null;
  /** Such as `contacts.created`, or `ping`. */
  type: string;
  /** From 1. */
  attempt: number;
  at: number;
  /** How long the attempt took; null if it was not made yet. */
  ms: number | null;
  /** The HTTP status; null if there was no response. */
  status: number | null;
  /** One of `DELIVERY_OUTCOMES`. */
  outcome: string;
  next_attempt_at: number | null;
}
