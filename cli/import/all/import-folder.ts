// A folder as `crm export all` writes it, brought in in dependency order, with new ids in place of the old ones.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { RESOURCES } from '../../../db/resources/index.ts';
import { CliError } from '../../errors.ts';
import { sha256 } from '../digest.ts';
import { surveyInput } from '../plan/survey.ts';
import type { ImportSummary } from '../request.ts';
import { greet } from '../session/greet.ts';
import type { FolderJob, FolderSummary } from './folder-job.ts';
import { IdMap } from './id-map.ts';
import { importLinks } from './links.ts';
import { type ExportedFile, RecordsImport } from './records.ts';

/** Imports a folder, from where an earlier run stopped; throws a CliError where it could not be brought to its end. */
export async function importFolder(job: FolderJob): Promise<FolderSummary> {
  const { request, client, url, apiKey } = job;
  const { files, skipped } = await survey(request.input);
  const { oldestPipelineId, requestsPerMinute } = await greet(client);
  const content = sha256(files.map(({ resource, input }) => `${resource.name} ${input.digest}`).join('\n'));
  const salt = request.isResumeWanted ? '' : crypto.randomUUID();
  const keyPrefix = `crm-import-${sha256(`all\n${content}\n${salt}`).slice(0, 40)}`;
  const subject = sha256([content, url, oldestPipelineId ?? apiKey].join('\n'));
  const ids = IdMap.open(request.input, subject, request.isResumeWanted);
  try {
    if (ids.isFinished) {
      return { resources: [], links: null, skipped, references_left_out: 0, status: 'already' };
    }
    const parts = { ...job, ids, oldestPipelineId, requestsPerMinute, content, keyPrefix };
    const records = new RecordsImport(parts);
    const resources: ImportSummary[] = [];
    for (const file of files) {
      const summary = await records.import(file);
      resources.push(summary);
      job.onFile(summary);
    }
    const linksPath = join(request.input, 'links.ndjson');
    const links = existsSync(linksPath) ? await importLinks(linksPath, parts) : null;
    if (links !== null) job.onLinks(links);
    ids.finish();
    return { resources, links, skipped, references_left_out: records.leftOut, status: 'finished' };
  } finally {
    ids.close();
  }
}

async function survey(folder: string): Promise<{ files: ExportedFile[]; skipped: string[] }> {
  const files: ExportedFile[] = [];
  const skipped: string[] = [];
  for (const resource of RESOURCES) {
    const path = ['ndjson', 'csv', 'json']
      .map((format) => join(folder, `${resource.name}.${format}`))
      .find((one) => existsSync(one));
    if (path === undefined) continue;
    if (!resource.verbs.includes('batch')) skipped.push(resource.name);
    else files.push({ resource, path, input: await surveyInput(path, { format: null, encoding: null }) });
  }
  if (files.length > 0) return { files, skipped };
  throw new CliError(`${folder} has no exported records, such as companies.ndjson.`, {
    nextSteps: ['name the folder that "crm export all --out FOLDER" wrote.'],
  });
}
