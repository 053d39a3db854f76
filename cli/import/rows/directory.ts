// Reads all companies or contacts of a small organization: one request per page instead of one per name.
import { getResource } from '../../../db/model/resources/registry.ts';
import { uniqueValues } from '../../../db/model/rules.ts';
import { caselessKey } from '../../../db/model/text.ts';
import type { Client } from '../../api/client.ts';
import { listAt, pagesOf } from '../../api/pages.ts';
import { isRefusal } from '../../errors.ts';
import { keyOf } from './unique-keys.ts';

const RECORDS_MAX = 1_000;

/** IDs by name and by unique values; null if there are too many records, or the key cannot read them. */
export async function readDirectory(
  client: Client,
  resource: string,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, readonly string[]> | null> {
  const directory = new Map<string, string[]>();
  const list = listAt(`/api/v2/${resource}`, {}, signal);
  let isWhole = false;
  try {
    for await (const { records, nextCursor } of pagesOf(client, list, { limit: RECORDS_MAX })) {
      for (const record of records) {
        const name =
          typeof record.name === 'string' ? [{ filter: 'name', key: caselessKey(record.name) }] : [];
        for (const key of [...name, ...uniqueValues(getResource(resource), record)].map(keyOf))
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
