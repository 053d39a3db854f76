// What the search index does not have yet: each write notes its records in its own transaction, in one row with the others.

import { bulkInsert } from './bulk-insert.ts';
import type { Trx } from './schema.ts';
import type { PendingRecord, SearchNote, SearchPendingRow } from './search-rows.ts';

const insert = bulkInsert('search_pending', ['org_id', 'id', 'records', 'entries']);

// So that a reader takes few more than it needs.
const RECORDS_PER_ROW = 100;

/** Writes what was noted; call it before the commit. */
export async function savePending(trx: Trx): Promise<void> {
  const notes = trx.engine.progress.searched.take();
  if (notes.length === 0) return;
  const rows: SearchPendingRow[] = [];
  for (let from = 0; from < notes.length; ) {
    const org_id = notes[from]?.orgNumber ?? 0;
    const some: PendingRecord[] = [];
    for (; some.length < RECORDS_PER_ROW && notes[from]?.orgNumber === org_id; from++)
      some.push(asEntry(notes[from] as SearchNote));
    rows.push({ org_id, id: Bun.randomUUIDv7(), records: some.length, entries: JSON.stringify(some) });
  }
  await insert(trx, rows as never);
}

function asEntry({ resource, id, before }: SearchNote): PendingRecord {
  return before === null ? [resource, id] : [resource, id, before];
}
