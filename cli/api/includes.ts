// `--include`: what to show with records besides them.
import type { Resource } from '../../db/model/resource.ts';
import { INCLUDES_MAX, type Include, includesOf } from '../../db/model/resources/includes.ts';
import { usageError } from '../errors.ts';
import { didYouMean } from '../nearest.ts';

/** What `--include` names, checked against the resource; nothing without the flag. */
export function parseIncludes(text: string | undefined, resource: Resource): readonly Include[] {
  if (text === undefined) return [];
  const known = includesOf(resource);
  const names = Object.keys(known);
  if (names.length === 0) throw usageError(`${resource.name} have nothing to include.`, 'remove --include.');
  const given = [...new Set(text.split(',').map((name) => name.trim()))];
  const includes = given.map((name) => {
    const include = Object.hasOwn(known, name) ? known[name] : undefined;
    if (include !== undefined) return include;
    const hint = didYouMean(name, names);
    throw usageError(
      `${resource.name} cannot include "${name}".${hint}`,
      `use one or more of: ${names.join(', ')}.`,
    );
  });
  if (includes.length <= INCLUDES_MAX) return includes;
  throw usageError(`--include takes at most ${INCLUDES_MAX} names.`, 'remove some of them.');
}
