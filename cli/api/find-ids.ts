// The IDs that many short texts mean, for the rows of a file: a request for a hundred short IDs.

import { idRangeOf } from '../input/short-id.ts';
import type { Client } from './client.ts';
import { pageOf } from './envelope.ts';
import { recordsIn } from './find-id.ts';

// As many as a condition may list, and records as a page may have.
const TIMES_MAX = 100;
const RECORDS_MAX = 200;

/** For each text the IDs of the records of a resource that it can mean. */
export async function idsMeant(
  client: Client,
  resource: string,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const meant = new Map<string, readonly string[]>();
  const times = new Set<number>();
  for (const text of texts) {
    const range = idRangeOf(text);
    if (range === undefined) continue;
    if (range.fromMs === range.untilMs) times.add(range.fromMs);
    // The beginning of an ID means a longer time: few write that into a file.
    else
      meant.set(
        text,
        (await recordsIn(client, resource, range)).map(({ id }) => String(id)),
      );
  }
  const found = await idsCreatedAt(
    client,
    resource,
    [...times].sort((a, b) => a - b),
    signal,
  );
  for (const text of texts) {
    const range = idRangeOf(text);
    if (range !== undefined && !meant.has(text))
      meant.set(
        text,
        found.filter((id) => range.has(id)),
      );
  }
  return meant;
}

async function idsCreatedAt(
  client: Client,
  resource: string,
  times: readonly number[],
  signal: AbortSignal,
): Promise<string[]> {
  const found = new Set<string>();
  for (let at = 0; at < times.length; at += TIMES_MAX) {
    const some = times.slice(at, at + TIMES_MAX);
    // The range has an index; the list says which of the range.
    const created_at = { between: [some[0] ?? 0, some.at(-1) ?? 0], in: some };
    const query = { filter: { created_at }, fields: ['id'], limit: RECORDS_MAX };
    for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
      const body = cursor === null ? query : { ...query, cursor };
      const options = { body, signal, idempotencyKey: null };
      const page = pageOf(await client.request('POST', `/api/v2/${resource}/query`, options));
      for (const { id } of page.records) found.add(String(id));
      cursor = page.nextCursor;
    }
  }
  return [...found];
}
