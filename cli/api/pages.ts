// Reads lists page by page; the only place that follows cursors.
import type { Data } from '../../db/model/json.ts';
import type { Client } from './client.ts';
import { type ApiResponse, pageOf } from './envelope.ts';

export interface Page {
  records: Data[];
  /** Null on the last page. */
  nextCursor: string | null;
  response: ApiResponse;
}

/** A list that can be read page by page. */
export interface Pageable {
  pageSizeMax: number;
  page(client: Client, cursor: string | null, limit: number): Promise<Page>;
}

/** Largest page of API v2. */
export const PAGE_SIZE_MAX = 200;

/** The list at a path of API v2. */
export function listAt(
  path: string,
  query: Record<string, string | readonly string[]> = {},
  signal?: AbortSignal,
): Pageable {
  return {
    pageSizeMax: PAGE_SIZE_MAX,
    page: async (client, cursor, limit) => {
      const parameters = { ...query, limit: String(limit), ...(cursor !== null && { cursor }) };
      return pageFrom(await client.request('GET', path, { query: parameters, ...(signal && { signal }) }));
    },
  };
}

/** The page in a response. */
export function pageFrom(response: ApiResponse): Page {
  return { ...pageOf(response), response };
}

/** The pages of a list from a cursor on, until the list ends or the limit is reached. */
export async function* pagesOf(
  client: Client,
  list: Pageable,
  from: { cursor?: string | null; limit?: number } = {},
): AsyncGenerator<Page> {
  let { cursor = null, limit = Number.POSITIVE_INFINITY } = from;
  do {
    const page = await list.page(client, cursor, Math.min(limit, list.pageSizeMax));
    yield page;
    limit -= page.records.length;
    cursor = page.nextCursor;
  } while (cursor !== null && limit > 0);
}
