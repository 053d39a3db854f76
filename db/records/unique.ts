// Owners of unique values: statements for each declared value, derived from the list filter that finds it.

import { sql } from 'kysely';
import { memoize } from '../cache.ts';
import { allOf, andThen, type Eventually } from '../engine/engine.ts';
import { type Db, linkTable, tableOf } from '../engine/schema.ts';
import { type Lookup, lookup } from '../engine/statement.ts';
import type { Filter, Resource } from '../model/resource.ts';
import type { UniqueValue } from '../model/rules.ts';
import { keyExpression } from '../tables/columns.ts';

const owners = memoize((resource: Resource) => memoize((filter: Filter) => ownersBy(resource, filter)));

// The records with unique values, and the value of each.
function ownersBy(resource: Resource, { match: [match] }: Filter): Lookup<{ key: string; id: string }> {
  if (match === undefined || 'column' in match)
    throw new Error(`a filter of ${resource.name} does not find unique values`);
  const { table, record, key } =
    'table' in match
      ? { table: linkTable(match.table), record: match.record, key: sql.ref<string>(match.value) }
      : { table: tableOf(resource), record: 'id', key: keyExpression(match.keyed) };
  return lookup((db, param, isGiven) =>
    db
      .selectFrom(table as 'links')
      .select([key.as('key'), `${record} as id`])
      .$castTo<{ key: string; id: string }>()
      .where('org_id', '=', param('org'))
      .where(isGiven(key)),
  );
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
  const [owner] = await owners(resource)(declared)(db, orgNumber, [declared.normalize(value)]);
  return owner?.id;
}

/** The IDs of the records with any of these values, by `uniqueName`. */
export function findOwners(
  db: Db,
  resource: Resource,
  orgNumber: number,
  given: readonly { unique: readonly UniqueValue[] }[],
): Eventually<Map<string, string>> {
  const found = new Map<string, string>();
  const finding: Eventually<void>[] = [];
  for (const filter in resource.unique) {
    const declared = resource.filters[filter];
    const keys: string[] = [];
    for (const { unique } of given) {
      for (const value of unique) if (value.filter === filter) keys.push(value.key);
    }
    if (declared === undefined || keys.length === 0) continue;
    const note = (rows: { key: string; id: string }[]) => {
      for (const { key, id } of rows) found.set(uniqueName({ filter, key }), id);
    };
    finding.push(andThen(owners(resource)(declared)(db, orgNumber, keys), note));
  }
  return andThen(allOf(finding), () => found);
}

/** Identifies a unique value among those of its resource. */
export function uniqueName({ filter, key }: Pick<UniqueValue, 'filter' | 'key'>): string {
  return `${filter} ${key}`;
}
