// Erases a person's addresses from timelines, which keep the names that stages had.

import { sql } from 'kysely';
import { readRows } from '../copy/rows.ts';
import { TIMELINE_COLUMNS, type TimelineRow } from '../engine/timeline-row.ts';
import type { Store } from '../store.ts';
import type { DataSubject } from './person.ts';

const KEY = TIMELINE_COLUMNS.filter((column) => column !== 'detail');

/** Takes a person's addresses out of the details of entries. */
export async function eraseTimelineDetails(
  store: Store,
  { orgNumber, addresses }: DataSubject,
): Promise<void> {
  const only = sql`org_id = ${orgNumber} and detail is not null`;
  const table = { name: 'timeline_entries', columns: [...TIMELINE_COLUMNS], key: KEY };
  for await (const rows of readRows(store.read, { ...table, only })) {
    const found = (rows as unknown as TimelineRow[]).filter(({ detail }) =>
      addresses.isInStored(detail ?? ''),
    );
    if (found.length === 0) continue;
    await store.write(orgNumber, async (trx) => {
      for (const { detail, ...key } of found) {
        let update = trx
          .updateTable('timeline_entries')
          .set({ detail: JSON.stringify(withoutAddresses(detail ?? '{}', addresses)) });
        for (const column of KEY) update = update.where(column, '=', key[column] as never);
        await update.execute();
      }
    });
  }
}

function withoutAddresses(detail: string, addresses: DataSubject['addresses']): Record<string, unknown> {
  const values = Object.entries(JSON.parse(detail) as Record<string, unknown>);
  return Object.fromEntries(
    values.map(([name, value]) => [name, typeof value === 'string' ? addresses.takenOutOf(value) : value]),
  );
}
