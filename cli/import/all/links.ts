// Creates exported links again, between the new records.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Data } from '../../../db/model/json.ts';
import { childOf } from '../../../db/model/links.ts';
import { findResource } from '../../../db/model/resources/registry.ts';
import { sha256 } from '../../files/digest.ts';
import { surveyInput } from '../plan/survey.ts';
import type { ImportCounts } from '../request.ts';
import { type Rejection, RowFault } from '../row.ts';
import { requestForRow } from '../rows/row-request.ts';
import { ErrorsFile } from '../session/errors-file.ts';
import type { FolderParts, LinksSummary } from './folder-job.ts';
import type { IdMap } from './id-map.ts';

const PIECE_BYTES = 64 * 1024;

/**
 * Creates the links of links.ndjson, from the end of the file on, because an export lists the newest first. After a crash
 * all are sent again: the server replays those that it remembers, and repeating a link changes nothing.
 */
export async function importLinks(path: string, parts: FolderParts): Promise<LinksSummary> {
  const { reporter, requestsPerMinute } = parts;
  const { rowCount } = await surveyInput(path, { format: 'ndjson', encoding: null });
  const errorsFile = new ErrorsFile({
    path: null,
    input: path,
    format: 'ndjson',
    headers: null,
    earlier: null,
  });
  errorsFile.startOver(false);
  const counts: ImportCounts = { created: 0, updated: 0, skipped: 0, rejected: 0 };
  let done = 0;
  try {
    await reporter.start({
      ...{ label: 'Importing links', unit: 'links', total: rowCount },
      ratePerMinuteMax: requestsPerMinute,
    });
    for (const text of linesFromEnd(path)) {
      done += 1;
      const line = JSON.parse(text) as Data;
      const rejection = await makeLink(line, parts);
      if (rejection !== null) {
        errorsFile.add({ line: done, entries: [], original: line, fault: null }, rejection);
      }
      counts[rejection === null ? 'created' : 'rejected'] += 1;
      reporter.settled(done, counts);
    }
  } finally {
    await reporter.stop();
    errorsFile.close();
  }
  return { linked: counts.created, rejected: counts.rejected, errors_file: errorsFile.path };
}

async function makeLink(line: Data, parts: FolderParts): Promise<Rejection | null> {
  const { client, ids, keyPrefix, interruption } = parts;
  try {
    const { path, body } = requestFor(line, ids);
    const digest = sha256(JSON.stringify(line)).slice(0, 32);
    const idempotencyKey = `${keyPrefix}-link-${digest}`;
    await requestForRow(client, 'POST', path, { body, idempotencyKey, signal: interruption.signal });
    return null;
  } catch (error) {
    if (!(error instanceof RowFault)) throw error;
    return { code: error.code, path: error.path, message: error.message };
  }
}

function requestFor(line: Data, ids: IdMap): { path: string; body: Data } {
  const { resource: name, id, link: linkName, record_id: childId, ...own } = line;
  const link = findResource(String(name))?.links[String(linkName)];
  if (link === undefined) throw fault('link', `unknown sub-resource ${name}/ID/${linkName}`);
  const parentId = newId(ids, String(name), id, 'id');
  const told = childOf(link, { link: own });
  // The line of a segment does not have the type of its members, but an ID is in one resource only.
  const child = (told === undefined ? Object.values(link.children) : [told]).find(
    (resource) => ids.find(resource, String(childId)) !== undefined,
  );
  if (child === undefined) throw fault('record_id', `"${childId}" was not imported`);
  const body: Data = { [link.childColumn]: newId(ids, child, childId, 'record_id') };
  for (const [field, { references }] of Object.entries(link.fields)) {
    const value = own[field] ?? null;
    if (value === null) continue;
    body[field] = references === undefined ? value : newId(ids, references, value, field);
  }
  return { path: `/api/v2/${name}/${parentId}/${linkName}`, body };
}

function newId(ids: IdMap, resource: string, oldId: unknown, path: string): string {
  const id = ids.find(resource, String(oldId));
  if (id === undefined) throw fault(path, `"${oldId}" is not one of the imported ${resource}`);
  return id;
}

function fault(path: string, message: string): RowFault {
  return new RowFault('RESOURCE_NOT_FOUND', path, message);
}

// The last line first, without blank lines.
function* linesFromEnd(path: string): Generator<string> {
  const descriptor = openSync(path, 'r');
  try {
    let end = fstatSync(descriptor).size;
    let rest = Buffer.alloc(0);
    while (end > 0) {
      const size = Math.min(PIECE_BYTES, end);
      end -= size;
      const piece = Buffer.alloc(size);
      readSync(descriptor, piece, 0, size, end);
      const bytes = Buffer.concat([piece, rest]);
      const first = end === 0 ? -1 : bytes.indexOf(0x0a);
      // Text before the first line feed may be the end of a line that starts in the previous piece.
      rest = end === 0 ? Buffer.alloc(0) : first < 0 ? bytes : bytes.subarray(0, first);
      const whole = end === 0 ? bytes : first < 0 ? Buffer.alloc(0) : bytes.subarray(first + 1);
      const lines = whole.toString('utf8').split('\n').reverse();
      for (const line of lines) if (line.trim() !== '') yield line;
    }
  } finally {
    closeSync(descriptor);
  }
}
