// The companies or contacts of a small organization, read at once: a request a page instead of one a name.
import type { Data } from '../../../db/model/json.ts';
import type { Client } from '../../api/client.ts';
import { listAt, pagesOf } from '../../api/pages.ts';
import { isRefusal } from '../../errors.ts';

const RECORDS_MAX = 1_000;

/** Ids by key; null where there are more records than is worth reading, or the key may not read them. */
export async function readDirectory(
  client: Client,
  resource: string,
  keysOf: (record: Data) => readonly string[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, readonly string[]> | null> {
  const directory = new Map<string, string[]>();
  const list = listAt(`/api/v2/${resource}`, {}, signal);
  let isWhole = false;
  try {
    for await (const { records, nextCursor } of pagesOf(client, list, { limit: RECORDS_MAX })) {
      for (const record of records) {
        for (const key of keysOf(record))
          directory.set(key, [...(directory.get(key) ?? []), String(record.id)]);
      }
      isWhole = nextCursor === null;
    }
  } catch (error) {
    // What keeps the key from reading the list is told when a single record is asked for.
    if (!isRefusal(error)) throw error;
  }
  return isWhole ? directory : null;
}
