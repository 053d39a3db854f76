// `crm import all`: what `crm export all` wrote, in dependency order, with new ids in place of the old ones.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { RESOURCES } from '../../../db/resources/index.ts';
import { connect } from '../../api/connect.ts';
import { CliError, EXIT, withStep } from '../../errors.ts';
import type { Config } from '../../settings/config.ts';
import { counted, formatCount } from '../../terminal/format.ts';
import { onInterrupt } from '../../terminal/interrupt.ts';
import { startProgress } from '../../terminal/progress.ts';
import { note } from '../../terminal/streams.ts';
import { sha256 } from '../digest.ts';
import { surveyInput } from '../plan/survey.ts';
import type { ImportRequest, ImportSummary } from '../request.ts';
import { ErrorsFile } from '../session/errors-file.ts';
import { greet } from '../session/greet.ts';
import { Reporter } from '../session/report.ts';
import { IdMap } from './id-map.ts';
import { importLinks } from './links.ts';
import { type AllParts, type ExportedFile, RecordsImport } from './records.ts';

export interface AllSummary {
  /** What was done of each resource, in order. */
  resources: ImportSummary[];
  links: { linked: number; rejected: number; errors_file: string | null } | null;
  /** Read-only resources that the folder has. */
  skipped: string[];
  /** References left out because what they point to is not in the folder, or is a user of another organization. */
  references_left_out: number;
  status: 'finished' | 'already';
}

/** Imports a folder; throws a CliError where it could not be brought to its end. */
export async function importAll(request: ImportRequest, config: Config): Promise<AllSummary> {
  const apiKey = await config.apiKey();
  const reporter = new Reporter();
  const client = await connect({ ...config, apiKey: async () => apiKey }, reporter.onWait);
  const { files, skipped } = await survey(request.input);
  const { oldestPipelineId, requestsPerMinute } = await greet(client);
  const content = sha256(files.map(({ resource, input }) => `${resource.name} ${input.digest}`).join('\n'));
  const salt = request.isResumeWanted ? '' : crypto.randomUUID();
  const keyPrefix = `crm-import-${sha256(`all\n${content}\n${salt}`).slice(0, 40)}`;
  const subject = sha256([content, config.url, oldestPipelineId ?? apiKey].join('\n'));
  const ids = new IdMap(request.input, subject, request.isResumeWanted);
  const interruption = new AbortController();
  const release = onInterrupt(() => interruption.abort());
  const parts: AllParts = {
    ...{ request, config, apiKey, client, reporter, ids, oldestPipelineId, requestsPerMinute },
    ...{ interruption, content, keyPrefix },
  };
  try {
    return ids.isFinished ? already(skipped) : await importFiles(files, skipped, parts);
  } catch (error) {
    const command = request.isResumeWanted
      ? 'the same command again'
      : 'the command again without --no-resume';
    const step = `run ${command}: it goes on where it stopped, and nothing is lost or doubled.`;
    if (!interruption.signal.aborted) throw withStep(error, step);
    throw new CliError('Interrupted.', { exitCode: EXIT.interrupted, nextSteps: [step] });
  } finally {
    release();
    ids.close();
  }
}

function already(skipped: string[]): AllSummary {
  return { resources: [], links: null, skipped, references_left_out: 0, status: 'already' };
}

async function importFiles(
  files: readonly ExportedFile[],
  skipped: string[],
  parts: AllParts,
): Promise<AllSummary> {
  const { request, ids } = parts;
  const tell = (text: string): void => {
    if (!request.isQuiet) note(text);
  };
  const records = new RecordsImport(parts);
  const resources: ImportSummary[] = [];
  for (const file of files) {
    const summary = await records.import(file);
    resources.push(summary);
    tell(`${summary.resource}: ${figures(summary)}`);
    for (const sample of summary.samples) tell(sample);
  }
  const links = await linkAll(parts);
  if (links !== null) {
    const rejected =
      links.rejected === 0 ? '' : `, ${formatCount(links.rejected)} rejected, see ${links.errors_file}`;
    tell(`links: ${formatCount(links.linked)} linked${rejected}`);
  }
  for (const name of skipped) tell(`${name}: skipped; they are read-only and come in with "crm ingest"`);
  if (records.leftOut > 0) {
    const what = 'to users that this organization does not have, or to records that the folder does not have';
    tell(`${counted(records.leftOut, 'reference')} left out: ${what}`);
  }
  ids.finish();
  return { resources, links, skipped, references_left_out: records.leftOut, status: 'finished' };
}

async function linkAll(parts: AllParts): Promise<AllSummary['links']> {
  const { request, client, ids, interruption, keyPrefix, requestsPerMinute } = parts;
  const path = join(request.input, 'links.ndjson');
  if (!existsSync(path)) return null;
  const { rowCount } = await surveyInput(path, 'ndjson');
  const errorsFile = new ErrorsFile({
    ...{ path: null, input: path, format: 'ndjson', headers: null, resumed: null },
  });
  errorsFile.removeOld();
  const progress = await startProgress({
    ...{ label: 'Importing links', unit: 'links', total: rowCount, quiet: request.isQuiet },
    ratePerMinuteMax: requestsPerMinute,
  });
  try {
    const counts = await importLinks(path, {
      ...{ client, ids, errorsFile, keyPrefix, signal: interruption.signal },
      onProgress: ({ done, rejected }) => progress.update({ done, ok: done - rejected, failed: rejected }),
    });
    return { ...counts, errors_file: errorsFile.path };
  } finally {
    await progress.stop();
    errorsFile.close();
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
    else files.push({ resource, path, input: await surveyInput(path, null) });
  }
  if (files.length > 0) return { files, skipped };
  throw new CliError(`${folder} has no exported records, such as companies.ndjson.`, {
    nextSteps: ['name the folder that "crm export all --out FOLDER" wrote.'],
  });
}

function figures({
  status,
  created,
  updated,
  skipped,
  rejected,
  errors_file: errors,
}: ImportSummary): string {
  const parts = [
    `${formatCount(created)} created`,
    ...(updated > 0 ? [`${formatCount(updated)} matched or updated`] : []),
    ...(skipped > 0 ? [`${formatCount(skipped)} skipped`] : []),
    ...(rejected > 0 ? [`${formatCount(rejected)} rejected, see ${errors}`] : []),
  ];
  return `${parts.join(', ')}${status === 'already' ? ' before' : ''}`;
}
