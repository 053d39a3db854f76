// What the options and arguments of a command can be for the resource that it names, for completion.
import type { Field } from '../db/model/fields.ts';
import { queryFieldNames } from '../db/model/query/fields.ts';
import { querySorts } from '../db/model/query/sorts.ts';
import type { Resource } from '../db/model/resource.ts';
import { includesOf } from '../db/model/resources/includes.ts';
import { isShown } from '../db/model/schemas.ts';
import { createFields, updateFields } from './api/body.ts';
import { type FilterShape, filtersOf, namedFilters } from './api/filters.ts';
import { namedFields } from './api/values.ts';
import { choicesOf } from './input/field-value.ts';

/** Keys of `key=value`, with the values of those that have only some. */
export type Pairs = Readonly<Record<string, readonly string[]>>;

const YES_OR_NO = ['true', 'false'];

const WORDS: Readonly<Record<string, (resource: Resource) => string[] | Pairs>> = {
  '--fields': ({ fields }) =>
    Object.entries(fields).flatMap(([name, field]) => (isShown(field) ? [name] : [])),
  '--include': (resource) => Object.keys(includesOf(resource)),
  '--sort-by': querySorts,
  // What a condition begins with, as long as there is only a word of it.
  '--where': queryFieldNames,
  '--filter': (resource) => {
    const filters = filtersOf(resource);
    const named = [...namedFilters(filters).keys()].map((kind) => [kind, []]);
    const own = Object.entries(filters).map(([name, filter]) => [name, filterValues(filter)]);
    return Object.fromEntries([...own, ...named]);
  },
  '--set': (resource) => fieldPairs(resource, 'create'),
};

/** The words that an option takes for a resource; none for options that take anything, or the same for all. */
export function resourceWords(option: string | undefined, resource: Resource): string[] | Pairs {
  return WORDS[option ?? '']?.(resource) ?? [];
}

/** What a command can set, with the values of fields that have only some. */
export function fieldPairs(resource: Resource, command: string): Pairs {
  const fields = command === 'update' ? updateFields(resource) : createFields(resource);
  const own = Object.entries(fields).flatMap(([name, field]) =>
    field.kind === 'custom' ? [] : [[name, fieldValues(field)]],
  );
  return Object.fromEntries([...own, ...[...namedFields(fields).keys()].map((kind) => [kind, []])]);
}

function fieldValues(field: Field): readonly string[] {
  return field.kind === 'boolean' ? YES_OR_NO : choicesOf(field);
}

function filterValues({ type }: FilterShape): readonly string[] {
  if (type === 'boolean') return YES_OR_NO;
  return typeof type === 'string' ? [] : type;
}
