// Exports the links of all records, kind by kind, as lines that `import all` restores.
import type { Data } from '../../db/model/json.ts';
import { childOf } from '../../db/model/links.ts';
import type { Link, Resource } from '../../db/model/resource.ts';
import type { Client } from '../api/client.ts';
import { listAt, PAGE_SIZE_MAX, type Page, pagesOf } from '../api/pages.ts';
import { linesFromEnd } from '../input/lines.ts';
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

/** The links of one sub-resource. */
interface Kind {
  resource: Resource;
  name: string;
  link: Link;
}

/** Adds the links between the fetched records to the spool; its cursor is a kind, and a cursor in the list of its links. */
export async function exportLinks(
  { client, display }: { client: Client; display: ExportDisplay },
  fetched: readonly FetchedRecords[],
  links: Spool,
): Promise<void> {
  if (links.isComplete) return;
  const kinds = fetched.flatMap(({ resource }) =>
    Object.entries(resource.links).map(([name, link]): Kind => ({ resource, name, link })),
  );
  const newest = new Map(fetched.map(({ resource, spool }) => [resource.name, lastIdIn(spool)]));
  const counts = new Map(fetched.map(({ resource, spool }) => [resource.name, spool.lines]));
  const expected = kinds.map(({ resource }) => counts.get(resource.name) ?? 0);
  const [begun = '', from = null] = links.cursor?.split(' ') ?? [];
  const first = Math.max(0, kinds.map(nameOf).indexOf(begun));
  for (const [index, kind] of kinds.entries()) {
    if (index < first) continue;
    const list = listAt('/api/v2/links', { of: nameOf(kind) });
    let ofKind = 0;
    for await (const page of pagesOf(client, list, { cursor: index === first ? from : null })) {
      ofKind += page.records.length;
      const isLast = page.nextCursor === null;
      const rest = isLast ? 0 : Math.max(1, (expected[index] ?? 0) - ofKind);
      // Nothing tells how many links there are: a record has about one of each kind.
      const left = expected.slice(index + 1).reduce((sum, count) => sum + count, rest);
      await startDisplay(display, page, links, left);
      const next = kinds[index + 1];
      const lines = page.records
        .filter((one) => isFetched(kind, one, newest))
        .map((one) => lineOf(kind, one));
      if (!isLast) links.append(lines, `${nameOf(kind)} ${page.nextCursor}`);
      else links.append(lines, next === undefined ? null : nameOf(next));
      display.show({ done: links.lines, share: links.lines / Math.max(1, links.lines + left) });
    }
  }
  await display.stop(`links: ${counted(links.lines, 'line')}`);
}

function nameOf({ resource, name }: Kind): string {
  return `${resource.name}.${name}`;
}

async function startDisplay(
  display: ExportDisplay,
  page: Page,
  { lines }: Spool,
  left: number,
): Promise<void> {
  const ratePerMinuteMax = requestsPerMinute(page) * PAGE_SIZE_MAX;
  await display.start({
    label: 'Exporting links',
    unit: 'links',
    total: null,
    about: lines + page.records.length + left,
    startAt: lines,
    ratePerMinuteMax,
  });
}

// The records are in order of creation, and so are IDs.
function lastIdIn({ path }: Spool): string {
  for (const line of linesFromEnd(path)) return String((JSON.parse(line) as Data).id);
  return '';
}

// A record that was created after the others had been fetched is not in the folder.
function isFetched(
  { resource, link }: Kind,
  { parent_id, id, ...own }: Data,
  newest: Map<string, string>,
): boolean {
  const told = childOf(link, { link: own });
  const children = told === undefined ? Object.values(link.children) : [told];
  const isIn = (id: unknown, name: string) => String(id) <= (newest.get(name) ?? '');
  return isIn(parent_id, resource.name) && children.some((child) => isIn(id, child));
}

function lineOf({ resource, name, link }: Kind, { parent_id, id, ...shown }: Data): LinkLine {
  const own = Object.keys(link.fields).map((field) => [field, shown[field] ?? null]);
  return {
    resource: resource.name,
    id: parent_id ?? null,
    link: name,
    record_id: id ?? null,
    ...Object.fromEntries(own),
  };
}
