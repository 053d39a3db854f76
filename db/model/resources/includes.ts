// What responses can include besides records: their owner, the records that they refer to, and related ones.
import { memoize } from '../../cache.ts';
import type { Resource } from '../resource.ts';
import { findResource } from './registry.ts';
import { ownWay, referencesTo, relationsAmong, type Way } from './relations.ts';

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

const SINGLE = [
  { name: 'company', group: 'companies', scope: 'companies:read' },
  { name: 'owner', group: 'users', scope: null },
  { name: 'pipeline', group: 'pipelines', scope: 'pipelines:read' },
  // Stages are parts of pipelines.
  { name: 'stage', group: 'stages', scope: 'pipelines:read' },
] as const;
const RELATED = ['contacts', 'companies', 'deals', 'segments', 'notes', 'tasks'];

/** What requests can include with records of a resource, by name. */
export const includesOf = memoize((resource: Resource): Includes => {
  const single = SINGLE.flatMap(({ name, group, scope }): Include[] => {
    const column = columnOf(resource, name, group);
    if (column === undefined) return [];
    return [{ name, group, resource: findResource(group) ?? null, scope, ways: [ownWay(resource, column)] }];
  });
  const related = Object.values(relationsAmong(resource, RELATED)).map(
    ({ name, target, ways }): Include => ({
      ...{ name, group: name, resource: target, ways },
      scope: `${name}:read`,
    }),
  );
  return Object.fromEntries([...single, ...related].map((one) => [one.name, one]));
});

// The owner is the user of a record; the creator of notes, segments and interactions can be a key.
function columnOf(resource: Resource, name: string, group: string): string | undefined {
  if (name === 'owner') return resource.owner ?? undefined;
  return referencesTo({ name: group }, resource).find((column) => column === `${name}_id`);
}
