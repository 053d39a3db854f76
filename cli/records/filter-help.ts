// What `crm list RESOURCE --help` says of the resource: its filters, what it can be sorted by, and what it can include.
import { querySorts } from '../../db/model/query/sorts.ts';
import { includesOf } from '../../db/model/resources/includes.ts';
import { findResource } from '../../db/model/resources/registry.ts';
import { joinWithOr, singularOf, withArticle } from '../../db/model/text.ts';
import { type FilterShape, listFilters, namedFilters } from '../api/filters.ts';
import type { NameKind } from '../api/names.ts';

const NAMES: Readonly<Record<NameKind, string>> = {
  company: 'name or domain of a company',
  contact: 'email or name of a contact',
  owner: 'email or name of a user, or me',
  pipeline: 'name of a pipeline',
  stage: 'name of a stage',
};

/** The lines about the resource that one of the words names; nothing if none does. */
export function resourceHelp(words: readonly string[]): string {
  const resource = words.map((word) => findResource(word)).find((found) => found !== undefined);
  if (resource === undefined) return '';
  const filters = listFilters(resource);
  const named = [...namedFilters(filters).keys()].map((kind): [string, string] => [kind, NAMES[kind]]);
  const others = Object.entries(filters).map(([name, filter]): [string, string] => [name, valuesOf(filter)]);
  const rows = [...named, ...others];
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, values]) => `  ${name.padEnd(width)}  ${values}`);
  const includes = Object.keys(includesOf(resource)).join(', ');
  return [
    `\nFilters of ${resource.name} (--filter NAME=VALUE):`,
    ...lines,
    `\nSort by: ${querySorts(resource).join(', ')}`,
    ...(includes === '' ? [] : [`Include: ${includes}`]),
    '',
  ].join('\n');
}

function valuesOf({ type, references }: FilterShape): string {
  if (references.length > 0) return `ID of ${withArticle(joinWithOr(references.map(singularOf)))}`;
  if (type === 'instant') return 'time: 2026-11-21, 7d (seven days ago), yesterday, ahead 7d';
  if (type === 'boolean') return 'true or false';
  if (type === 'external ID') return 'SOURCE:ID in another system';
  return typeof type === 'string' ? 'text' : type.join(', ');
}
