// Owners of unique values: statements for each declared value, derived from the list filter that finds it.

import { sql } from 'kysely';
import { memoize } from '../cache.ts';
import { type Db, linkTable, tableOf } from '../engine/schema.ts';
import { type Param, statement } from '../engine/statement.ts';
import type { Filter, Resource } from '../model/resource.ts';
import type { UniqueValue } from '../model/rules.ts';
import { keyExpression } from './columns.ts';

const statementsOf = memoize((resource: Resource) =>
  memoize((filter: Filter) => ({
    findOne: statement((db, param) => {
      const { key, query } = owners(db, resource, filter, param);
      return query.where(key, '=', param('key'));
    }),
    findAll: statement((db, param) => {
      const { key, query } = owners(db, resource, filter, param);
      return query.where(db.engine.isAmong(key, param('keys')));
    }),
  })),
);

// Records with their unique value; the caller adds the values to search for.
function owners(db: Db, resource: Resource, { match: [match] }: Filter, param: Param) {
  if (match === undefined || 'column' in match)
    throw new Error(`a filter of ${resource.name} does not find unique values`);
  const { table, record, key } =
    'table' in match
      ? { table: linkTable(match.table), record: match.record, key: sql.ref<string>(match.value) }
      : { table: tableOf(resource), record: 'id', key: keyExpression(match.keyed) };
  const query = db
    .selectFrom(table as 'links')
    .select([key.as('key'), `${record} as id`])
    .$castTo<{ key: string; id: string }>()
    .where('org_id', '=', param('org'));
  return { key, query };
}

/** The ID of the record with a value, in any spelling, that the resource declares unique under that filter. */
export async function findUnique(
  db: Db,
  resource: Resource,
  orgNumber: number,
  { filter, value }: Pick<UniqueValue, 'filter' | 'value'>,
): Promise<string | undefined> {
  const declared = resource.filters[filter];
  if (declared === undefined) return undefined;
  const key = declared.normalize(value);
  return (await statementsOf(resource)(declared).findOne(db, { org: orgNumber, key }))[0]?.id;
}

/** The IDs of the records with any of these values, by `uniqueName`. */
export async function findOwners(
  db: Db,
  resource: Resource,
  orgNumber: number,
  given: readonly { unique: readonly UniqueValue[] }[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const filter in resource.unique) {
    const declared = resource.filters[filter];
    const keys: string[] = [];
    for (const { unique } of given) {
      for (const value of unique) if (value.filter === filter) keys.push(value.key);
    }
    const [key, ...more] = keys;
    if (declared === undefined || key === undefined) continue;
    const { findOne, findAll } = statementsOf(resource)(declared);
    const rows =
      more.length === 0
        ? await findOne(db, { org: orgNumber, key })
        : await findAll(db, { org: orgNumber, keys: JSON.stringify(keys) });
    for (const row of rows) found.set(uniqueName({ filter, key: row.key }), row.id);
  }
  return found;
}

/** Identifies a unique value among those of its resource. */
export function uniqueName({ filter, key }: Pick<UniqueValue, 'filter' | 'key'>): string {
  return `${filter} ${key}`;
}
