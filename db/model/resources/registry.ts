// The registry: every resource of the service, in dependency order (a resource refers to earlier ones).
import { type Resource, scopesOf } from '../resource.ts';
import { bookings } from './bookings.ts';
import { companies } from './companies.ts';
import { contacts } from './contacts.ts';
import { deals } from './deals.ts';
import { interactions } from './interactions.ts';
import { meetings } from './meetings.ts';
import { notes } from './notes.ts';
import { pipelines } from './pipelines.ts';
import { recordings } from './recordings.ts';
import { segments } from './segments.ts';
import { tasks } from './tasks.ts';

export const RESOURCES: readonly Resource[] = [
  companies,
  contacts,
  pipelines,
  deals,
  tasks,
  notes,
  segments,
  interactions,
  meetings,
  recordings,
  bookings,
];

const byName = new Map(RESOURCES.map((resource) => [resource.name, resource]));

/** The resource with that (plural) name, or undefined. */
export function findResource(name: string): Resource | undefined {
  return byName.get(name);
}

/** The resource with that (plural) name, which must exist. */
export function getResource(name: string): Resource {
  const resource = byName.get(name);
  if (resource === undefined) throw new Error(`unknown resource ${name}`);
  return resource;
}

/** Every v2 scope, `resource:action`. */
export const V2_SCOPES: readonly string[] = [
  ...RESOURCES.flatMap(scopesOf),
  'webhooks:read',
  'webhooks:write',
];

/** Every v1 scope. */
export const V1_SCOPES = [
  'ALL',
  'people:read',
  'people:write',
  'companies:read',
  'companies:write',
  'companies:remove',
  'interactions:read',
  'interactions:write',
] as const;
