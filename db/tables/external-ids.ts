// Records that come from elsewhere, by the ids that they have there.
import type { Resource } from '../declare/resource.ts';
import { type Db, type RecordRow, tableOf } from '../schema.ts';
import { madeOnce, statement } from '../statement.ts';

const byExternalIds = madeOnce((resource: Resource) =>
  statement<RecordRow>((db, param) =>
    db
      .selectFrom(tableOf(resource))
      .selectAll()
      .where('org_id', '=', param('org'))
      .where('external_id', 'in', db.engine.textsOf(param('ids'))),
  ),
);

/** The organization's records of those external ids, by them. */
export async function findByExternalIds(
  db: Db,
  resource: Resource,
  orgId: number,
  externalIds: readonly string[],
): Promise<Map<string, RecordRow>> {
  const rows = await byExternalIds(resource)(db, { org: orgId, ids: JSON.stringify(externalIds) });
  return new Map(rows.map((row) => [String(row.external_id), row]));
}
