// Whose a unique value is: one statement for each that is declared, made from the list filter that finds it.
import type { Match, Resource } from '../declare/resource.ts';
import type { UniqueValue } from '../declare/rules.ts';
import { type Db, linkTable, tableOf } from '../schema.ts';
import { type Param, statement } from '../statement.ts';

type Find = ReturnType<typeof statement<{ id: string }>>;

const statements = new Map<string, Find>();

/** The id of the record that has a value, in any spelling, that the resource declares unique under that filter. */
export async function findUnique(
  db: Db,
  resource: Resource,
  orgId: number,
  { filter, value }: Pick<UniqueValue, 'filter' | 'value'>,
): Promise<string | undefined> {
  const declared = resource.filters[filter];
  const [match] = declared?.match ?? [];
  if (declared === undefined || match === undefined) return undefined;
  const name = `${resource.name} ${filter}`;
  const find = statements.get(name) ?? statement((db, param) => select(db, resource, match, param));
  statements.set(name, find);
  return (await find(db, { org: orgId, key: declared.normalize(value) }))[0]?.id;
}

function select(db: Db, resource: Resource, match: Match, param: Param) {
  const { table, record, value } =
    'table' in match
      ? { ...match, table: linkTable(match.table) }
      : { table: tableOf(resource), record: 'id', value: match.column };
  return db
    .selectFrom(table as 'links')
    .select(`${record} as id`)
    .$castTo<{ id: string }>()
    .where('org_id', '=', param('org'))
    .where(value, '=', param('key'));
}
