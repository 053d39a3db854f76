// What the options of a command can be for the resource that it names, for completion.
import { queryFieldNames } from '../db/model/query/fields.ts';
import { querySorts } from '../db/model/query/sorts.ts';
import type { Resource } from '../db/model/resource.ts';
import { includesOf } from '../db/model/resources/includes.ts';
import { isShown } from '../db/model/schemas.ts';

const WORDS: Readonly<Record<string, (resource: Resource) => string[]>> = {
  '--fields': ({ fields }) =>
    Object.entries(fields).flatMap(([name, field]) => (isShown(field) ? [name] : [])),
  '--include': (resource) => Object.keys(includesOf(resource)),
  '--sort-by': querySorts,
  // What a condition begins with, as long as there is only a word of it.
  '--where': queryFieldNames,
};

/** The words that an option takes for a resource; none for options that take anything, or the same for all. */
export function resourceWords(option: string | undefined, resource: Resource): string[] {
  return WORDS[option ?? '']?.(resource) ?? [];
}
