// Reads all companies or contacts of a small organization: one request per page instead of one per name.
import type { Data } from '../../../db/model/json.ts';
import type { Client } from '../../api/client.ts';
import { listAt, pagesOf } from '../../api/pages.ts';
import { isRefusal } from '../../errors.ts';

const RECORDS_MAX = 1_000;

/** IDs by key; null if there are too many records, or the key cannot read them. */
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
    // If the key cannot read the list, the request for a single record reports it.
    if (!isRefusal(error)) throw error;
  }
  return isWhole ? directory : null;
}
