// Exports everything to a folder: one file per resource, links.ndjson, and export.json, which marks it as complete.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Resource } from '../../db/model/resource.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import type { Client } from '../api/client.ts';
import { listRequest } from '../api/list-request.ts';
import { counted } from '../terminal/format.ts';
import type { ExportDisplay } from './display.ts';
import { fetchRest } from './export-resource.ts';
import { exportLinks, type FetchedRecords } from './links.ts';
import { MANIFEST_NAME, type ManifestFile, readManifest, writeManifest } from './manifest.ts';
import { finishPartialFolder, openPartialFolder } from './part-folder.ts';
import { Spool } from './spool.ts';
import { type ExportFormat, writeFile } from './write-file.ts';

export interface ExportAllJob {
  client: Client;
  /** Server URL. */
  url: string;
  /** The folder to create. */
  target: string;
  format: Exclude<ExportFormat, 'json'>;
  isExcelSafe: boolean;
  isResumed: boolean;
  /** Identifies what is exported, so that --resume does not continue another export. */
  subject: string;
  display: ExportDisplay;
}

/** Exports every resource in dependency order, then the links; resolves with the number of records. */
export async function exportAll(job: ExportAllJob): Promise<number> {
  const { target } = job;
  const part = openPartialFolder(target, job.isResumed);
  // An earlier run was interrupted after it had fetched everything.
  const isWhole = existsSync(join(part, MANIFEST_NAME));
  const manifest = isWhole ? readManifest(part) : await gather(job, part);
  finishPartialFolder(part, target, manifest);
  const records = manifest.files.filter(({ name }) => name !== LINKS_NAME);
  return records.reduce((sum, file) => sum + file.records, 0);
}

const LINKS_NAME = 'links.ndjson';

async function gather(job: ExportAllJob, part: string) {
  const { url, subject, isResumed } = job;
  const began_at = new Date().toISOString();
  const spools: Spool[] = [];
  const open = (name: string, of = subject): Spool => {
    const spool = Spool.open(join(part, name), of, isResumed);
    spools.push(spool);
    return spool;
  };
  try {
    const fetched: FetchedRecords[] = [];
    for (const resource of RESOURCES) {
      const spool = open(`${resource.name}.ndjson`);
      await fetchRecords(job, resource, spool);
      fetched.push({ resource, spool });
    }
    // An older crm fetched the links of one record after another, and what it left is not continued.
    const links = open(LINKS_NAME, `${subject}\nlinks`);
    await exportLinks(job, fetched, links);
    const files: Pick<ManifestFile, 'name' | 'records'>[] = [];
    for (const one of fetched) files.push(await finishRecords(job, one, part));
    files.push({ name: LINKS_NAME, records: links.lines });
    return writeManifest(part, { server: url, began_at }, files);
  } finally {
    for (const spool of spools) spool.keep();
  }
}

async function fetchRecords({ client, display }: ExportAllJob, { name }: Resource, spool: Spool) {
  const list = listRequest(name, { api: 'v2', sortDirection: 'asc' });
  if (!spool.isComplete) {
    await fetchRest({ client, list, onPage: display.followRecords(client, list) }, spool);
    await display.stop(`${name}: ${counted(spool.lines, 'record')}`);
  }
  display.settle(spool.lines);
}

/** Converts the fetched NDJSON to CSV if needed. */
async function finishRecords(
  { format, isExcelSafe }: ExportAllJob,
  { resource, spool }: FetchedRecords,
  part: string,
): Promise<Pick<ManifestFile, 'name' | 'records'>> {
  const name = `${resource.name}.${format}`;
  if (format === 'csv') {
    const { look } = listRequest(resource.name, { api: 'v2' });
    await writeFile(spool.path, join(part, name), format, { ...look, isExcelSafe });
  }
  return { name, records: spool.lines };
}
