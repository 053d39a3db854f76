// Reads all records of a report, and says beforehand how many requests that takes if they are many.
import type { Data } from '../../db/model/json.ts';
import type { Client } from '../api/client.ts';
import { recordOf } from '../api/envelope.ts';
import { type Page, pagesOf } from '../api/pages.ts';
import { resourceFor } from '../api/target.ts';
import { formatCount } from '../terminal/format.ts';
import { startProgress } from '../terminal/progress.ts';
import { note } from '../terminal/streams.ts';
import { filterOfWhere } from '../where/filter.ts';
import { askQuery } from '../where/query.ts';
import { recordsRequest } from '../where/records-request.ts';

export interface ReportFlags {
  filter?: string[];
  where?: string;
}

// More than this takes long enough to be told.
const REQUESTS_UNTOLD = 10;

/** Gives all records of a resource that the flags want to `take`, page by page, with these fields only. */
export async function readAll(
  client: Client,
  resource: string,
  { filter, where }: ReportFlags,
  { fields, take }: { fields: readonly string[]; take: (record: Data) => void },
): Promise<void> {
  const list = recordsRequest(resource, {
    api: 'v2',
    fields: fields.join(','),
    ...(filter !== undefined && { filter }),
    ...(where !== undefined && { where }),
  });
  let progress: Awaited<ReturnType<typeof startProgress>> | null = null;
  let done = 0;
  for await (const page of pagesOf(client, list)) {
    for (const record of page.records) take(record);
    done += page.records.length;
    if (progress === null && page.nextCursor !== null) {
      const total = filter === undefined ? await countAll(client, resource, where) : null;
      tell(resource, total, list.pageSizeMax, page);
      progress = await startProgress({ label: 'Reading', unit: resource, total });
    }
    progress?.update({ done });
  }
  await progress?.stop();
}

async function countAll(client: Client, name: string, where: string | undefined): Promise<number | null> {
  const resource = resourceFor(name, 'list');
  const body: Data = where === undefined ? {} : { filter: filterOfWhere(resource, where) };
  const { count, is_exact: isExact } = recordOf(await askQuery(client, resource, 'count', body));
  return typeof count === 'number' && isExact === true ? count : null;
}

function tell(resource: string, total: number | null, pageSize: number, { response }: Page): void {
  if (total === null) {
    note(`Reading all ${resource} that match, ${pageSize} per request.`);
    return;
  }
  const requests = Math.ceil(total / pageSize);
  if (requests <= REQUESTS_UNTOLD) return;
  const limit = Number(response.headers.get('x-ratelimit-limit'));
  const minutes = limit > 0 ? Math.floor(requests / limit) : 0;
  const time = minutes > 0 ? `, about ${minutes} min at the limit of ${formatCount(limit)} per minute` : '';
  note(`Reading ${formatCount(total)} ${resource} takes ${formatCount(requests)} requests${time}.`);
}
