// What responses can include besides records: their owner, the records that they refer to, and related ones.
import { memoize } from '../../cache.ts';
import type { Resource } from '../resource.ts';
import { getResource } from './registry.ts';
import { referencesTo, relationsAmong, type Way } from './relations.ts';

/** How many names a request can include. */
export const INCLUDES_MAX = 5;

/** Something that a request can name in `include`. */
export interface Include {
  readonly name: string;
  /** Where the response has what is included: the plural of its resource, `users` or `stages`. */
  readonly group: string;
  /** Null for users and stages, which are no records. */
  readonly resource: Resource | null;
  /** The scope that it needs; null for none. */
  readonly scope: string | null;
  readonly ways: readonly Way[];
}

export type Includes = Readonly<Record<string, Include>>;

// The names of single references, and what they refer to.
const SINGLE: Readonly<Record<string, string>> = {
  company: 'companies',
  pipeline: 'pipelines',
  stage: 'stages',
};
const RELATED = ['contacts', 'companies', 'deals', 'segments', 'notes', 'tasks'];

/** What requests can include with records of a resource, by name. */
export const includesOf = memoize((resource: Resource): Includes => {
  const { company, ...others } = singleOf(resource);
  const owner = ownerOf(resource);
  const related = Object.values(relationsAmong(resource, RELATED)).map(
    ({ name, target, ways }): Include => ({
      ...{ name, group: name, resource: target, ways },
      scope: `${name}:read`,
    }),
  );
  const all = [company, owner, ...Object.values(others), ...related];
  return Object.fromEntries(all.flatMap((one) => (one === undefined ? [] : [[one.name, one]])));
});

function singleOf(resource: Resource): Partial<Record<string, Include>> {
  const found = Object.entries(SINGLE).flatMap(([name, group]): [string, Include][] => {
    const column = referencesTo({ name: group }, resource).find((one) => one === `${name}_id`);
    if (column === undefined) return [];
    const target = group === 'stages' ? null : getResource(group);
    // Stages are parts of pipelines.
    const scope = target === null ? 'pipelines:read' : `${group}:read`;
    return [[name, { name, group, resource: target, scope, ways: [{ kind: 'own', column }] }]];
  });
  return Object.fromEntries(found);
}

// The user of a record; the creator of notes, segments and interactions can be a key.
function ownerOf({ owner }: Resource): Include | undefined {
  if (owner === null) return undefined;
  return {
    name: 'owner',
    group: 'users',
    resource: null,
    scope: null,
    ways: [{ kind: 'own', column: owner }],
  };
}
