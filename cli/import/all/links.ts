// Creates exported links again, between the new records.
import type { Data } from '../../../db/model/json.ts';
import { childOf } from '../../../db/model/links.ts';
import { findResource } from '../../../db/model/resources/registry.ts';
import { sha256 } from '../../files/digest.ts';
import { linesFromEnd } from '../../input/lines.ts';
import { surveyInput } from '../plan/survey.ts';
import { NO_COUNTS } from '../request.ts';
import { type Rejection, RowFault } from '../row.ts';
import { rejectionOfError } from '../rows/row-request.ts';
import { ErrorsFile } from '../session/errors-file.ts';
import { postBatch } from '../session/post-batch.ts';
import type { FolderParts, LinksSummary } from './folder-job.ts';
import type { IdMap } from './id-map.ts';

const BATCH_SIZE = 100;

/** A line of the file, with the item of a batch that it makes, or why it makes none. */
interface LinkLine {
  line: number;
  original: Data;
  made: Data | RowFault;
}

/**
 * Creates the links of links.ndjson, from the end of the file on, because an export lists the newest first. After a crash
 * all are sent again: the server replays the batches that it remembers, and repeating a link changes nothing.
 * @param leaveOut is called for each reference of a link to a record that is not in the folder
 */
export async function importLinks(
  path: string,
  parts: FolderParts,
  leaveOut: () => void,
): Promise<LinksSummary> {
  const { reporter, requestsPerMinute, ids } = parts;
  const { rowCount } = await surveyInput(path, { format: 'ndjson', encoding: null });
  const errorsFile = new ErrorsFile({
    path: null,
    input: path,
    format: 'ndjson',
    headers: null,
    earlier: null,
  });
  errorsFile.startOver(false);
  const counts = { ...NO_COUNTS };
  let done = 0;
  const settle = async (lines: readonly LinkLine[]): Promise<void> => {
    const rejections = await sendLinks(lines, parts);
    for (const [index, { line, original }] of lines.entries()) {
      const rejection = rejections[index] ?? null;
      if (rejection !== null) errorsFile.add({ line, entries: [], original, fault: null }, rejection);
      counts[rejection === null ? 'created' : 'rejected'] += 1;
    }
    reporter.settled(done, counts);
  };
  try {
    await reporter.start({
      ...{ label: 'Importing links', unit: 'links', total: rowCount },
      ratePerMinuteMax: requestsPerMinute * BATCH_SIZE,
    });
    let batch: LinkLine[] = [];
    for (const text of linesFromEnd(path)) {
      done += 1;
      const original = JSON.parse(text) as Data;
      batch.push({ line: done, original, made: itemFor(original, ids, leaveOut) });
      if (batch.length < BATCH_SIZE) continue;
      await settle(batch);
      batch = [];
    }
    if (batch.length > 0) await settle(batch);
  } finally {
    await reporter.stop();
    errorsFile.close();
  }
  return { linked: counts.created, rejected: counts.rejected, errors_file: errorsFile.path };
}

/** For each line, why it was rejected; null if it was not. */
async function sendLinks(lines: readonly LinkLine[], parts: FolderParts): Promise<(Rejection | null)[]> {
  const { client, keyPrefix, interruption } = parts;
  const items = lines.flatMap(({ made }) => (made instanceof RowFault ? [] : [made]));
  const { results } = await postBatch({
    ...{ client, path: '/api/v2/links/batch', items, isDryRun: false, signal: interruption.signal },
    idempotencyKey: `${keyPrefix}-links-${sha256(JSON.stringify(items)).slice(0, 32)}`,
  });
  const left = results.values();
  return lines.map(({ made }) => {
    if (made instanceof RowFault) return { code: made.code, path: made.path, message: made.message };
    const error = left.next().value?.error;
    return error === undefined ? null : inLine(rejectionOfError(error));
  });
}

// Named as in the line.
function inLine(rejection: Rejection): Rejection {
  const names: Record<string, string> = { parent_id: 'id', id: 'record_id' };
  return { ...rejection, path: names[rejection.path] ?? rejection.path };
}

function itemFor(line: Data, ids: IdMap, leaveOut: () => void): Data | RowFault {
  try {
    return itemOf(line, ids, leaveOut);
  } catch (error) {
    if (error instanceof RowFault) return error;
    throw error;
  }
}

function itemOf(line: Data, ids: IdMap, leaveOut: () => void): Data {
  const { resource: name, id, link: linkName, record_id: childId, ...own } = line;
  const link = findResource(String(name))?.links[String(linkName)];
  if (link === undefined) throw fault('link', `unknown sub-resource ${name}/ID/${linkName}`);
  const parent_id = newId(ids, String(name), id, 'id');
  const told = childOf(link, { link: own });
  // The line of a segment does not have the type of its members, but an ID is in one resource only.
  const child = (told === undefined ? Object.values(link.children) : [told]).find(
    (resource) => ids.find(resource, String(childId)) !== undefined,
  );
  if (child === undefined) throw fault('record_id', `"${childId}" was not imported`);
  const item: Data = { of: `${name}.${linkName}`, parent_id, id: newId(ids, child, childId, 'record_id') };
  for (const [field, { references }] of Object.entries(link.fields)) {
    const value = own[field] ?? null;
    if (value === null) continue;
    const imported = references === undefined ? value : ids.find(references, String(value));
    // Created after the export had fetched its resource, for example.
    if (imported === undefined) leaveOut();
    else item[field] = imported;
  }
  return item;
}

function newId(ids: IdMap, resource: string, oldId: unknown, path: string): string {
  const id = ids.find(resource, String(oldId));
  if (id === undefined) throw fault(path, `"${oldId}" is not one of the imported ${resource}`);
  return id;
}

function fault(path: string, message: string): RowFault {
  return new RowFault('RESOURCE_NOT_FOUND', path, message);
}
