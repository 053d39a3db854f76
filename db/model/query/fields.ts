// What queries can filter and sort records by: each field by its kind, with the operators that the kind allows.
import { memoize } from '../../cache.ts';
import type { Field, FieldKind } from '../fields.ts';
import type { Resource } from '../resource.ts';
import { getResource } from '../resources/registry.ts';
import { type Relation, relationsOf } from '../resources/relations.ts';
import { isShown } from '../schemas.ts';

/** How the values of a field are compared. */
export type ValueFamily =
  | 'text'
  | 'id'
  | 'enum'
  | 'boolean'
  | 'number'
  | 'instant'
  | 'date'
  | 'custom'
  | 'texts'
  | 'ids'
  | 'link';

const EQUALITY = ['eq', 'ne', 'in', 'not_in'] as const;
const ORDER = ['lt', 'lte', 'gt', 'gte', 'between'] as const;
const TEXT = ['contains', 'starts_with'] as const;
const NULL = ['is_null'] as const;
const LIST = ['has', 'any_of', ...NULL] as const;

/** The operators of each family, in the order in which errors and the description list them. */
export const OPERATORS = {
  text: [...EQUALITY, ...TEXT, ...NULL],
  id: [...EQUALITY, ...NULL],
  enum: [...EQUALITY, ...NULL],
  boolean: [...EQUALITY, ...NULL],
  number: [...EQUALITY, ...ORDER, ...NULL],
  instant: [...EQUALITY, ...ORDER, ...NULL],
  date: [...EQUALITY, ...ORDER, ...NULL],
  custom: [...EQUALITY, ...ORDER, ...TEXT, ...NULL],
  texts: LIST,
  ids: LIST,
  link: LIST,
} as const satisfies Record<ValueFamily, readonly string[]>;

export type Operator = (typeof OPERATORS)[ValueFamily][number];

/** The operators whose value is a list. */
export const LIST_OPERATORS: ReadonlySet<Operator> = new Set(['in', 'not_in', 'between', 'any_of']);

/** A field, custom field or link that a query can filter by. */
export interface QueryField {
  /** As filters name it. */
  name: string;
  family: ValueFamily;
  /** Its declaration; null for links and for the values in `custom`. */
  field: Field | null;
  /** What a link, or a list that links store, leads to. */
  relation: Relation | null;
  /** The key in `custom`. */
  key: string | null;
}

const FAMILIES: Readonly<Record<FieldKind, ValueFamily | null>> = {
  text: 'text',
  email: 'text',
  emails: 'texts',
  domain: 'text',
  boolean: 'boolean',
  integer: 'number',
  number: 'number',
  instant: 'instant',
  timestamp: 'instant',
  date: 'date',
  enum: 'enum',
  reference: 'id',
  references: 'ids',
  custom: null,
  json: null,
};

const CUSTOM = 'custom';
/** What the name of a custom field in a filter begins with. */
export const CUSTOM_PREFIX = `${CUSTOM}.`;

const fieldsOf = memoize((resource: Resource): ReadonlyMap<string, QueryField> => {
  const fields = Object.entries(resource.fields).flatMap(([name, field]): QueryField[] => {
    const family = familyOf(field);
    if (family === null || !isShown(field)) return [];
    const relation = family === 'ids' ? relationOfList(resource, field) : null;
    return [{ name, family, field, relation, key: null }];
  });
  const links = Object.values(relationsOf(resource)).map(
    (relation): QueryField => ({ name: relation.name, family: 'link', field: null, relation, key: null }),
  );
  return new Map([...fields, ...links].map((one) => [one.name, one]));
});

function familyOf(field: Field): ValueFamily | null {
  const { kind, column, schema } = field;
  const { type, items } = schema as { type?: string; items?: { type?: string } };
  if (kind === 'json' && column !== null)
    return type === 'array' && items?.type === 'string' ? 'texts' : null;
  return FAMILIES[kind];
}

// Such a list is not stored in the record, but in a table of its own.
function relationOfList({ sideTables }: Resource, { references }: Field): Relation | null {
  for (const { table, parentColumn, childColumn, children } of sideTables) {
    const target = Object.values(children).find((name) => name === references);
    if (target === undefined) continue;
    const way = { kind: 'link', table, own: parentColumn, other: childColumn, type: null } as const;
    return { name: target, target: getResource(target), ways: [way] };
  }
  return null;
}

/** What a filter can name, in the order of responses; custom fields, of which there can be any, are not among it. */
export function queryFields(resource: Resource): Iterable<QueryField> {
  return fieldsOf(resource).values();
}

/** The names that a filter can use, as errors list them. */
export function queryFieldNames(resource: Resource): string[] {
  const names = [...fieldsOf(resource).keys()];
  return hasCustom(resource) ? [...names, `${CUSTOM_PREFIX}NAME`] : names;
}

/** Whether records have custom fields. */
export function hasCustom({ fields }: Resource): boolean {
  return fields[CUSTOM]?.kind === 'custom';
}

/** The field, link or custom field with that name in a filter. */
export function findQueryField(resource: Resource, name: string): QueryField | undefined {
  if (!name.startsWith(CUSTOM_PREFIX) || !hasCustom(resource)) return fieldsOf(resource).get(name);
  return { name, family: 'custom', field: null, relation: null, key: name.slice(CUSTOM_PREFIX.length) };
}
