// Exports the links of records, as lines that `import all` restores.
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import type { Client } from '../api/client.ts';
import { listRequest } from '../api/list-request.ts';
import { type Page, pagesOf } from '../api/pages.ts';
import { isRefusal } from '../errors.ts';
import { fileLines } from '../input/lines.ts';
import { counted } from '../terminal/format.ts';
import { type ExportDisplay, requestsPerMinute } from './display.ts';
import type { Spool } from './spool.ts';

/**
 * One line of links.ndjson: the record `record_id` is linked under `resource/id/link`, with `record_type` if the link
 * needs it, and with the fields of the link.
 */
type LinkLine = Data;

/** The fetched records of one resource. */
export interface FetchedRecords {
  resource: Resource;
  spool: Spool;
}

/** Adds the links of all records to the spool; its cursor is the number of finished records. */
export async function exportLinks(
  { client, display }: { client: Client; display: ExportDisplay },
  fetched: readonly FetchedRecords[],
  links: Spool,
): Promise<void> {
  if (links.isComplete) return;
  const linked = fetched.filter(({ resource }) => Object.keys(resource.links).length > 0);
  const total = sum(linked.map(({ spool }) => spool.lines));
  const requests = sum(linked.map(({ resource, spool }) => spool.lines * Object.keys(resource.links).length));
  const behind = Number(links.cursor ?? 0);
  let done = 0;
  const onPage = async (page: Page): Promise<void> => {
    const perMinute = (requestsPerMinute(page) * total) / requests;
    await display.start({
      ...{ label: 'Exporting links', unit: 'records', total, startAt: behind },
      ...(Number.isFinite(perMinute) && { ratePerMinuteMax: Math.floor(perMinute) }),
    });
  };
  for (const { resource, spool } of linked) {
    for await (const line of fileLines(spool.path)) {
      done += 1;
      if (done <= behind) continue;
      const lines = await linksOf({ client, onPage }, resource, JSON.parse(line) as Data).catch(noneIfGone);
      links.append(lines, String(done));
      display.show({ done });
    }
  }
  links.append([], null);
  await display.stop(`links: ${counted(links.lines, 'line')}`);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

// Deleted since it was listed, so it has no links any more.
function noneIfGone(error: unknown): LinkLine[] {
  if (isRefusal(error, 404)) return [];
  throw error;
}

async function linksOf(
  { client, onPage }: { client: Client; onPage: (page: Page) => Promise<void> },
  resource: Resource,
  record: Data,
): Promise<LinkLine[]> {
  if (record.member_count === 0) return [];
  const lines: LinkLine[] = [];
  const id = String(record.id);
  for (const [name, link] of Object.entries(resource.links)) {
    const list = listRequest(`${resource.name}/${id}/${name}`, { api: 'v2' });
    for await (const page of pagesOf(client, list)) {
      await onPage(page);
      for (const child of page.records) {
        const own: Data = Object.fromEntries(
          Object.keys(link.fields).map((field) => [field, child[field] ?? null]),
        );
        // The items of a mixed list are not records, and have the child's ID as record_id.
        const recordId = String(child.id ?? child[link.childColumn]);
        lines.push({ resource: resource.name, id, link: name, record_id: recordId, ...own });
      }
    }
  }
  return lines;
}
