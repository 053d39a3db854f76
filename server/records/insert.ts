// Writing a new record: the fields as given, and whose it is and when it was made.
import type { Data } from '../../db/declare/json.ts';
import { type Resource, toColumns } from '../../db/declare/resource.ts';
import type { RecordRow } from '../../db/schema.ts';
import { insertRecord } from '../../db/tables/records.ts';
import { principalOf } from '../access.ts';
import type { Change } from './rules.ts';

/** Writes a record and gives its row. */
export async function insertNew(
  { trx, access, now }: Pick<Change, 'trx' | 'access' | 'now'>,
  resource: Resource,
  id: string,
  data: Data,
): Promise<RecordRow> {
  const columns = toColumns(resource.fields, data);
  const created_by = principalOf(access);
  const row: RecordRow = {
    ...columns,
    org_id: access.orgId,
    id,
    created_by,
    created_at: now,
    updated_at: now,
  };
  await insertRecord(trx, resource, row);
  return row;
}
