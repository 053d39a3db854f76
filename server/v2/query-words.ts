// What the description says about the filters of a resource: its fields by their kind, and an example.
import type { Data, JsonValue } from '../../db/model/json.ts';
import { hasCustom, type QueryField, queryFields, type ValueFamily } from '../../db/model/query/fields.ts';
import type { Resource } from '../../db/model/resource.ts';

const NAMES: Readonly<Record<ValueFamily, string>> = {
  text: 'text',
  id: 'IDs',
  enum: 'one of several values',
  boolean: 'true or false',
  number: 'numbers',
  instant: 'times',
  date: 'days',
  custom: 'custom fields',
  texts: 'lists of text',
  ids: 'lists of IDs',
  link: 'links',
};

/** The fields that a filter can name, by their kind. */
export function fieldsInWords(resource: Resource): string {
  const byFamily = Map.groupBy(queryFields(resource), ({ family }) => family);
  const kinds = [...byFamily].map(([family, fields]) => {
    const names = fields.map(({ name }) => `\`${name}\``).join(', ');
    return `${NAMES[family]}: ${names}`;
  });
  if (hasCustom(resource)) kinds.push(`${NAMES.custom}: \`custom.NAME\``);
  return `A filter can use ${kinds.join('; ')}.`;
}

// The first fields of these kinds make an example.
const SHOWN: readonly ValueFamily[] = ['text', 'number', 'enum', 'boolean', 'date'];
const FIELDS_MAX = 2;

/** A filter for the example of a query. */
export function filterExample(resource: Resource): Data {
  const fields = [...queryFields(resource)];
  const chosen = SHOWN.flatMap((family) => fields.find((field) => field.family === family) ?? []);
  const conditions = chosen
    .slice(0, FIELDS_MAX)
    .map((field): [string, JsonValue] => [field.name, exampleOf(field)]);
  return { ...Object.fromEntries(conditions), created_at: { gte: { ago: '30d' } } };
}

function exampleOf({ family, field }: QueryField): JsonValue {
  const value = field?.example ?? null;
  if (value === null) return { is_null: false };
  return family === 'text' ? { contains: value } : value;
}
