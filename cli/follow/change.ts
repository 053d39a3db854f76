// A change of the feed, as `GET /api/v2/changes` gives it.
import type { Data } from '../../db/model/json.ts';

/** What one write did to a record or a link. */
export interface FeedChange {
  /** Null for user-bound keys. */
  sequence: number | null;
  at: string;
  action: string;
  resource: string;
  record_id: string;
  actor: { type: 'key' | 'operator'; id: string | null; user_id: string | null };
  before: Data | null;
  after: Data | null;
  link: Data | null;
  /** The record as it is now. */
  record: Data | null;
}

/** What tells a change from those next to it, also where the key gets no sequence numbers. */
export function markOf({ sequence, at, action, resource, record_id, link }: FeedChange): string {
  if (sequence !== null) return String(sequence);
  return [at, action, resource, record_id, ...(link === null ? [] : [link.name, link.id])].join(' ');
}
