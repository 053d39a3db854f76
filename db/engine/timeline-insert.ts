// Inserts entries of timelines.
import { bulkInsert } from './bulk-insert.ts';
import type { Eventually } from './engine.ts';
import type { Trx } from './schema.ts';
import { TIMELINE_COLUMNS, type TimelineRow } from './timeline-row.ts';

const insert = bulkInsert('timeline_entries', TIMELINE_COLUMNS, 'are left out');

/** Inserts entries; those that exist stay as they are. */
export function insertTimelineRows(trx: Trx, rows: readonly TimelineRow[]): Eventually<void> {
  return insert(trx, rows as never);
}
