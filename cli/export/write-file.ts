// Turns spooled records into the exported text: CSV columns come from a first pass, files are renamed once complete.
import { renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Data } from '../../db/model/json.ts';
import { errorCode } from '../errors.ts';
import { partialName, removePartialFiles } from '../files/partial-files.ts';
import { CREATED, syncFolderOf } from '../files/private-file.ts';
import { fileLines } from '../input/lines.ts';
import { type ColumnLayout, createEncoder } from '../terminal/output.ts';
import { writeError } from './spool.ts';

export type ExportFormat = 'csv' | 'ndjson' | 'json';

const PAGE_RECORDS = 500;

/** Writes the spooled records to `target` through a temporary file next to it, synced before the rename. */
export async function writeFile(
  spoolPath: string,
  target: string,
  format: ExportFormat,
  look: ColumnLayout,
): Promise<void> {
  const temporary = partialName(target, 'crm-new');
  try {
    removePartialFiles(target, 'crm-new');
    const file = await open(temporary, CREATED.flags, CREATED.mode);
    try {
      for await (const text of encoded(spoolPath, format, look)) await file.write(text);
      await file.sync();
    } finally {
      await file.close();
    }
    renameSync(temporary, target);
    syncFolderOf(target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw errorCode(error) === '' ? error : writeError(target, error);
  }
}

/** The spooled records as text, piece by piece. */
export async function* encoded(
  spoolPath: string,
  format: ExportFormat,
  look: ColumnLayout,
): AsyncGenerator<string> {
  const columns = format === 'csv' ? await csvColumns(spoolPath, look) : look.allFields;
  const encoder = createEncoder(format, { ...look, allFields: columns });
  let page: Data[] = [];
  let isEmpty = true;
  for await (const line of fileLines(spoolPath)) {
    page.push(JSON.parse(line) as Data);
    if (page.length < PAGE_RECORDS) continue;
    yield encoder.page(page, isEmpty);
    isEmpty = false;
    page = [];
  }
  if (page.length > 0) yield encoder.page(page, isEmpty);
  yield encoder.end(isEmpty && page.length === 0);
}

/** Whether the CSV columns are known only after reading all records. */
export function hasOpenColumns(look: ColumnLayout): boolean {
  return look.fields === undefined && look.allFields.includes('custom');
}

// One column for every custom key of any record, so that the file can be imported again.
async function csvColumns(spoolPath: string, look: ColumnLayout): Promise<readonly string[]> {
  if (!hasOpenColumns(look)) return look.allFields;
  const keys = new Set<string>();
  for await (const line of fileLines(spoolPath)) {
    const { custom } = JSON.parse(line) as Data;
    for (const key of Object.keys(custom ?? {})) keys.add(key);
  }
  return look.allFields.flatMap((name) =>
    name === 'custom' ? [...keys].map((key) => `custom.${key}`) : [name],
  );
}
