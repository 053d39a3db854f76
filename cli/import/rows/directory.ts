// The companies or contacts of a small organization, read at once: a request a page instead of one a name.
import type { Data } from '../../../db/declare/json.ts';
import type { Client } from '../../api/client.ts';
import { pageOf } from '../../api/envelope.ts';

const PAGES_MAX = 5;
const PAGE_SIZE = 200;

/** Ids by key; null where there are more records than is worth reading, or the key may not read them. */
export async function readDirectory(
  client: Client,
  resource: string,
  keysOf: (record: Data) => readonly string[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, readonly string[]> | null> {
  const directory = new Map<string, string[]>();
  let cursor: string | null = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const response = await client.request('GET', `/api/v2/${resource}`, {
      query: { limit: String(PAGE_SIZE), ...(cursor !== null && { cursor }) },
      expectErrors: true,
      ...(signal !== undefined && { signal }),
    });
    // What keeps the key from reading the list is told when a single record is asked for.
    if (response.body.object === 'error') return null;
    const { records, nextCursor } = pageOf(response);
    for (const record of records) {
      for (const key of keysOf(record))
        directory.set(key, [...(directory.get(key) ?? []), String(record.id)]);
    }
    if (nextCursor === null) return directory;
    cursor = nextCursor;
  }
  return null;
}
