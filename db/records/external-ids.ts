// Records from other systems, by their IDs there.
import { memoize } from '../cache.ts';
import { type Db, type RecordRow, tableOf } from '../engine/schema.ts';
import { lookup, type Param, statement } from '../engine/statement.ts';
import type { Resource } from '../model/resource.ts';
import { keyStart, textKey } from '../model/text.ts';
import { keyExpression } from '../tables/columns.ts';

const KEY = keyExpression('external_id');
// Keys with a given prefix are at least the prefix, and less than the prefix followed by this character.
const LAST_CHARACTER = '\u{10FFFF}';

const rows = (resource: Resource, db: Db, param: Param) =>
  db.selectFrom(tableOf(resource)).selectAll().$castTo<RecordRow>().where('org_id', '=', param('org'));
const byKeys = memoize((resource: Resource) =>
  lookup((db, param, isGiven) => rows(resource, db, param).where(isGiven(KEY))),
);
const byStart = memoize((resource: Resource) =>
  statement((db, param) =>
    rows(resource, db, param).where(KEY, '>=', param('from')).where(KEY, '<', param('to')),
  ),
);

/** The organization's records with those external IDs, by external ID. */
export async function findByExternalIds(
  db: Db,
  resource: Resource,
  orgNumber: number,
  externalIds: readonly string[],
): Promise<Map<string, RecordRow>> {
  const found = await byKeys(resource)(db, orgNumber, externalIds.map(textKey));
  return new Map(found.map((row) => [String(row.external_id), row]));
}

/** The organization's records whose external IDs begin with that text. */
export async function findByStart(
  db: Db,
  resource: Resource,
  orgNumber: number,
  start: string,
): Promise<RecordRow[]> {
  const from = keyStart(start);
  const found = await byStart(resource)(db, { org: orgNumber, from, to: from + LAST_CHARACTER });
  return found.filter((row) => String(row.external_id).startsWith(start));
}
