// Exports one resource: pages to a spool, the spool to the file, or directly to stdout if possible.
import { join } from 'node:path';
import type { Client } from '../api/client.ts';
import type { ListRequest } from '../api/list-request.ts';
import { type Page, pagesOf } from '../api/pages.ts';
import { withTemporaryFolder } from '../input/files.ts';
import { type ColumnLayout, createEncoder } from '../terminal/output.ts';
import { writeValues } from '../terminal/streams.ts';
import { Spool } from './spool.ts';
import { type ExportFormat, encoded, hasOpenColumns, writeFile } from './write-file.ts';

export interface ExportJob {
  client: Client;
  list: ListRequest;
  look: ColumnLayout;
  format: ExportFormat;
  /** Called for every page with the number of records fetched so far. */
  onPage: (page: Page, done: number) => void | Promise<void>;
}

/** Exports to a file that appears once it is complete; resolves with the number of records. */
export async function exportToFile(job: ExportJob, target: string, spool: Spool): Promise<number> {
  try {
    await fetchRest(job, spool);
    await finish(job, target, spool);
  } catch (error) {
    if (spool.lines === 0) spool.discard();
    else spool.keep();
    throw error;
  }
  return spool.lines;
}

/** Fetches what is not in the spool yet. */
export async function fetchRest(
  { client, list, onPage }: Pick<ExportJob, 'client' | 'list' | 'onPage'>,
  spool: Spool,
): Promise<void> {
  if (spool.isComplete) return;
  for await (const page of pagesOf(client, list, { cursor: spool.cursor })) {
    spool.append(page.records, page.nextCursor);
    await onPage(page, spool.lines);
  }
}

/** Turns a complete spool into the exported file. */
export async function finish({ format, look }: ExportJob, target: string, spool: Spool): Promise<void> {
  if (format === 'ndjson' && look.fields === undefined) return spool.become(target);
  await writeFile(spool.path, target, format, look);
  spool.discard();
}

/** Exports to stdout; resolves with the number of records. */
export async function exportToStdout(job: ExportJob): Promise<number> {
  if (job.format === 'csv' && hasOpenColumns(job.look)) return exportThroughSpool(job);
  const { client, list, format, look, onPage } = job;
  const encoder = createEncoder(format, look);
  let done = 0;
  for await (const page of pagesOf(client, list)) {
    const { records } = page;
    if (records.length > 0) await writeValues(encoder.page(records, done === 0));
    done += records.length;
    await onPage(page, done);
  }
  await writeValues(encoder.end(done === 0));
  return done;
}

async function exportThroughSpool(job: ExportJob): Promise<number> {
  return withTemporaryFolder('crm-export-', async (folder) => {
    const spool = Spool.open(join(folder, 'records'), job.list.name, false);
    await fetchRest(job, spool);
    for await (const text of encoded(spool.path, job.format, job.look)) await writeValues(text);
    spool.discard();
    return spool.lines;
  });
}
