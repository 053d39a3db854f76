// The links of exported records, as lines that `import all` ties together again.
import type { Data } from '../../db/declare/json.ts';
import type { Resource } from '../../db/declare/resource.ts';
import type { Client } from '../api/client.ts';
import { listRequest } from '../api/list-request.ts';
import { pagesOf } from '../api/pages.ts';
import { isRefusal } from '../errors.ts';
import { fileLines } from '../input/lines.ts';
import type { Spool } from './spool.ts';

/**
 * One line of links.ndjson: the record `record_id` is linked under `resource/id/link`; the link's own fields stand
 * beside.
 */
type LinkLine = Data;

export interface LinksExport {
  client: Client;
  resource: Resource;
  /** NDJSON of the records. */
  recordsPath: string;
  /** Takes the links; its cursor says how many records of which resource are behind it. */
  links: Spool;
  /** Called with the number of records whose links are there. */
  onProgress: (done: number) => void;
}

/** Adds the links of every record in a file, and goes on where an earlier run left off. */
export async function collectLinks(job: LinksExport): Promise<void> {
  const { client, resource, recordsPath, links, onProgress } = job;
  const finished = finishedRecords(links.cursor, resource);
  let done = 0;
  for await (const line of fileLines(recordsPath)) {
    done += 1;
    if (done <= finished) continue;
    const record = JSON.parse(line) as Data;
    const lines = await linksOf(client, resource, record).catch(noneIfGone);
    await links.append(lines, `${resource.name} ${done}`);
    onProgress(done);
  }
}

// Deleted since it was listed: then it has no links any more.
function noneIfGone(error: unknown): LinkLine[] {
  if (isRefusal(error, 404)) return [];
  throw error;
}

function finishedRecords(cursor: string | null, resource: Resource): number {
  const [name, done] = (cursor ?? '').split(' ');
  return name === resource.name ? Number(done) : 0;
}

async function linksOf(client: Client, resource: Resource, record: Data): Promise<LinkLine[]> {
  if (record.member_count === 0) return [];
  const lines: LinkLine[] = [];
  const id = String(record.id);
  for (const [name, link] of Object.entries(resource.links)) {
    const list = await listRequest(`${resource.name}/${id}/${name}`, { api: 'v2' });
    for await (const page of pagesOf(client, list)) {
      for (const child of page.records) {
        const own: Data = Object.fromEntries(
          Object.keys(link.fields).map((field) => [field, child[field] ?? null]),
        );
        // The items of a mixed list are no records, and tell the child's id as the link does.
        const recordId = String(child.id ?? child[link.childColumn]);
        lines.push({ resource: resource.name, id, link: name, record_id: recordId, ...own });
      }
    }
  }
  return lines;
}
