// Imports a folder of `crm export all` in dependency order, and replaces old IDs with new ones.
import { join } from 'node:path';
import { RESOURCES } from '../../../db/model/resources/registry.ts';
import { withStep } from '../../errors.ts';
import { incompleteExport, readManifest } from '../../export/manifest.ts';
import { hashFile, sha256 } from '../../files/digest.ts';
import { kindAt } from '../../files/private-file.ts';
import { surveyInput } from '../plan/survey.ts';
import { type ImportRequest, type ImportSummary, onDuplicateOf } from '../request.ts';
import { lockRun } from '../session/lock.ts';
import { preflight } from '../session/preflight.ts';
import { confirmNotEmpty } from './confirm-not-empty.ts';
import type { FolderJob, FolderParts, FolderSummary } from './folder-job.ts';
import { IdMap } from './id-map.ts';
import { importLinks } from './links.ts';
import { type ExportedFile, NOTHING_LEFT_OUT, RecordsImport } from './records.ts';

interface Surveyed {
  files: ExportedFile[];
  /** Read-only resources. */
  skipped: string[];
  linksPath: string | null;
  /** Digest of the content of all files. */
  content: string;
}

/** Imports a folder, continuing an earlier run; throws a CliError if it could not finish. */
export async function importFolder(job: FolderJob): Promise<FolderSummary> {
  const { request, client, url } = job;
  const surveyed = await survey(request.input);
  const { skipped, content } = surveyed;
  const greeting = await preflight(client);
  const subject = sha256([content, url, greeting.organizationId].join('\n'));
  const release = lockRun({ verb: 'import', gerund: 'importing' }, subject);
  try {
    const ids = await openMap(job, subject);
    try {
      const { end } = ids;
      if (end !== null && (end.rejected === 0 || end.onDuplicate === onDuplicateOf(request))) {
        const { rejected } = end;
        return { ...NOTHING_LEFT_OUT, resources: [], links: null, skipped, rejected, status: 'already' };
      }
      const keyPrefix = `crm-import-${sha256(`all\n${content}\n${ids.salt}`).slice(0, 40)}`;
      return await bringIn(surveyed, { ...job, ...greeting, ids, content, keyPrefix });
    } catch (error) {
      throw withStep(error, continuing(request));
    } finally {
      ids.close();
    }
  } finally {
    release();
  }
}

/** The map of an earlier run, or a new one after confirmation. */
async function openMap({ request, client }: FolderJob, subject: string): Promise<IdMap> {
  const { folder, map } = IdMap.find(request.input, subject);
  if (map !== undefined && request.isResumeWanted) return map;
  map?.close();
  if (!request.isConfirmed) await confirmNotEmpty(client, request);
  return IdMap.begin(folder, { subject, salt: request.isResumeWanted ? '' : crypto.randomUUID() });
}

async function bringIn({ files, skipped, linksPath }: Surveyed, parts: FolderParts): Promise<FolderSummary> {
  const { request, ids } = parts;
  const records = new RecordsImport(parts);
  try {
    const resources: ImportSummary[] = [];
    for (const file of files) {
      const summary = await records.import(file);
      resources.push(summary);
      parts.onFile(summary);
    }
    const leaveOut = (): void => records.leaveOutReference();
    const links = linksPath === null ? null : await importLinks(linksPath, parts, leaveOut);
    if (links !== null) parts.onLinks(links);
    const rejected = resources.reduce((sum, one) => sum + one.rejected, links?.rejected ?? 0);
    ids.finish({ onDuplicate: onDuplicateOf(request), rejected });
    return { resources, links, skipped, ...records.leftOut, rejected, status: 'finished' };
  } finally {
    records.close();
  }
}

/** How to continue an import that was interrupted. */
export function continuing({ isResumeWanted }: ImportRequest): string {
  const command = isResumeWanted ? 'the same command again' : 'the command again without --no-resume';
  return `run ${command} to continue. Nothing is lost or duplicated.`;
}

/** Reads the folder, and checks every file against its digest. */
async function survey(folder: string): Promise<Surveyed> {
  const manifest = readManifest(folder);
  const files: ExportedFile[] = [];
  const skipped: string[] = [];
  let linksPath: string | null = null;
  for (const { name, sha256: expected } of manifest.files) {
    const path = join(folder, name);
    if (kindAt(path) !== 'file') throw incompleteExport(`${name} is missing`);
    const resource = RESOURCES.find((one) => one.name === name.replace(/\..*/, ''));
    const isImported = resource?.verbs.includes('batch') ?? false;
    const input = isImported ? await surveyInput(path, { format: null, encoding: null }) : null;
    const digest = input === null ? hashFile(path).digest('hex') : input.digest;
    if (digest !== expected) throw incompleteExport(`${name} was changed after the export`);
    if (resource === undefined) linksPath = path;
    else if (input === null) skipped.push(resource.name);
    else files.push({ resource, path, input });
  }
  files.sort((one, other) => RESOURCES.indexOf(one.resource) - RESOURCES.indexOf(other.resource));
  const content = sha256(manifest.files.map(({ name, sha256: digest }) => `${name} ${digest}`).join('\n'));
  return { files, skipped, linksPath, content };
}
