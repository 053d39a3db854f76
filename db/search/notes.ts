// What each write of a record leaves for the search index; only the functions that write their rows call these.

import type { NotedUpdate } from '../changes/changes.ts';
import type { RecordRow, Trx } from '../engine/schema.ts';
import type { Resource, Row } from '../model/resource.ts';
import { recordings } from '../model/resources/recordings.ts';
import { indexedColumns, searchNumber, TRANSCRIPT, withTranscripts } from './resources.ts';

/** Notes that records are new, or restored. */
export function noteNewRecords(
  { engine: { progress } }: Trx,
  resource: Resource,
  orgNumber: number,
  rows: readonly Pick<RecordRow, 'id'>[],
): void {
  const number = searchNumber(resource);
  if (number < 0) return;
  for (const { id } of rows) progress.searched.add({ orgNumber, resource: number, id, before: null });
}

/** Notes updates, with what the index may have of the records. */
export function noteUpdatedRecords(
  { engine: { progress } }: Trx,
  resource: Resource,
  orgNumber: number,
  updates: readonly NotedUpdate[],
): void {
  const number = searchNumber(resource);
  if (number < 0) return;
  const indexed = indexedColumns(resource);
  for (const { row, columns } of updates) {
    let before: Row | null = null;
    for (const name of indexed) {
      if (!(name in columns)) continue;
      before ??= {};
      before[name] = row[name] ?? null;
    }
    if (before !== null) progress.searched.add({ orgNumber, resource: number, id: row.id, before });
  }
}

/** Notes that records are about to be deleted, with what the index may have of them. */
export async function noteDeletedRecords(
  trx: Trx,
  resource: Resource,
  orgNumber: number,
  rows: readonly RecordRow[],
): Promise<void> {
  const number = searchNumber(resource);
  if (number < 0) return;
  const columns = [...indexedColumns(resource), TRANSCRIPT];
  for (const row of await withTranscripts(trx, resource, orgNumber, rows)) {
    const values = columns.flatMap((name) => (row[name] == null ? [] : [[name, row[name]]]));
    const before = Object.fromEntries(values) as Row;
    trx.engine.progress.searched.add({ orgNumber, resource: number, id: row.id, before });
  }
}

/** Notes that the transcript of a recording changes, with its former segments, as stored. */
export function noteTranscript(
  { engine: { progress } }: Trx,
  orgNumber: number,
  id: string,
  segments: string | undefined,
): void {
  const before: Row = { [TRANSCRIPT]: segments ?? null };
  progress.searched.add({ orgNumber, resource: searchNumber(recordings), id, before });
}
