// Exports everything into a folder: one file a resource, and links.ndjson.
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Resource } from '../../db/declare/resource.ts';
import type { Client } from '../api/client.ts';
import { listRequest } from '../api/list-request.ts';
import type { ProgressState } from '../terminal/snapshot.ts';
import { type ExportJob, fetchRest, finish } from './export-resource.ts';
import { collectLinks } from './links.ts';
import { Spool, unwritable } from './spool.ts';
import type { ExportFormat } from './write-file.ts';

export interface ExportAllJob {
  client: Client;
  folder: string;
  format: ExportFormat;
  isExcelSafe: boolean;
  isResumed: boolean;
  /** Marks what is exported, so that another export does not go on from here. */
  subject: string;
  onProgress: (state: ProgressState) => void;
  /** Called when a file is whole. */
  onFile: (path: string, lines: number) => void;
}

/** Exports every resource in dependency order, then the links; resolves with the number of records. */
export async function exportAll(job: ExportAllJob): Promise<number> {
  const { RESOURCES } = await import('../../db/resources/index.ts');
  await mkdir(job.folder, { recursive: true }).catch((error: unknown) => {
    throw unwritable(job.folder, error);
  });
  const finished = job.isResumed ? await readFinished(job) : {};
  const links = await Spool.open(join(job.folder, 'links.ndjson.crm-part'), job.subject, job.isResumed);
  let total = 0;
  try {
    for (const resource of RESOURCES) {
      finished[resource.name] ??= await exportOne(job, resource, links, total);
      total += finished[resource.name] ?? 0;
      await writeFinished(job, finished);
    }
  } catch (error) {
    await links.leave();
    throw error;
  }
  const { lines } = links;
  const linksPath = join(job.folder, 'links.ndjson');
  await links.become(linksPath);
  job.onFile(linksPath, lines);
  await rm(finishedPath(job), { force: true });
  return total;
}

async function exportOne(
  job: ExportAllJob,
  resource: Resource,
  links: Spool,
  doneBefore: number,
): Promise<number> {
  const { client, folder, format, isExcelSafe, onProgress } = job;
  const list = await listRequest(resource.name, { api: 'v2', sortDirection: 'asc' });
  const target = join(folder, `${resource.name}.${format}`);
  const spool = await Spool.open(`${target}.crm-part`, job.subject, job.isResumed);
  const one: ExportJob = {
    client,
    list,
    look: { ...list.look, isExcelSafe },
    format,
    onProgress: (done) => onProgress({ done: doneBefore + done }),
  };
  try {
    await fetchRest(one, spool);
    const progress = (done: number) =>
      onProgress({
        done: doneBefore + spool.lines,
        note: `links of ${done} of ${spool.lines} ${resource.name}`,
      });
    if (Object.keys(resource.links).length > 0) {
      await collectLinks({ client, resource, recordsPath: spool.path, links, onProgress: progress });
    }
    await finish(one, target, spool);
  } catch (error) {
    await spool.leave();
    throw error;
  }
  job.onFile(target, spool.lines);
  return spool.lines;
}

const finishedPath = (job: ExportAllJob): string => join(job.folder, 'export.crm-part.json');

async function writeFinished(job: ExportAllJob, finished: Record<string, number>): Promise<void> {
  const path = finishedPath(job);
  await Bun.write(path, JSON.stringify({ subject: job.subject, finished })).catch((error: unknown) => {
    throw unwritable(path, error);
  });
}

/** What an earlier run for the same subject has finished, with the number of records. */
async function readFinished(job: ExportAllJob): Promise<Record<string, number>> {
  try {
    const text = await readFile(finishedPath(job), 'utf8');
    const state = JSON.parse(text) as { subject: string; finished: Record<string, number> };
    return state.subject === job.subject ? state.finished : {};
  } catch {
    return {};
  }
}
