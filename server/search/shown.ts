// What a search shows of the records that it found.

import type { Data } from '../../db/model/json.ts';
import { presentAll } from '../records/records.ts';
import type { Reader } from '../records/rules.ts';
import type { FoundRecord } from './matches.ts';

/** What was found, in order, with the records as lists show them. */
export async function showFound(reader: Reader, found: readonly FoundRecord[]): Promise<Data[]> {
  const records = new Map<string, Data>();
  for (const [resource, some] of Map.groupBy(found, (one) => one.resource)) {
    const ids = some.map(({ row }) => row.id);
    const shown = await presentAll(
      reader,
      resource,
      some.map(({ row }) => row),
    );
    for (const [index, record] of shown.entries()) records.set(ids[index] ?? '', record);
  }
  return found.map(({ resource, row, tier, field, snippet }) => ({
    ...{ record_type: resource.name, record_id: row.id, match: { tier, field, snippet } },
    record: records.get(row.id) ?? null,
  }));
}
