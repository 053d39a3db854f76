// What commands act on: a resource by name, a record by ID, a sub-resource by path.
import { EXTERNAL_IDS } from '../../db/model/external-ids.ts';
import {
  type Association,
  hasExternalIds,
  type Link,
  type Resource,
  type Verb,
} from '../../db/model/resource.ts';
import { findResource, RESOURCES } from '../../db/model/resources/registry.ts';
import { type CliError, usageError } from '../errors.ts';
import { didYouMean, nearest } from '../nearest.ts';
import type { IdFinder } from './id-finder.ts';

/** `deals/ID/contacts`, `meetings/ID/deal` or `deals/ID/external_ids`, parsed; the last has neither link nor association. */
export interface Target {
  resource: Resource;
  id: string;
  /** Last part: the name of the sub-resource. */
  name: string;
  /** Path of the sub-resource. */
  path: string;
  link: Link | undefined;
  association: Association | undefined;
}

/** The resource with this name; a usage error lists the known ones. */
export function resourceNamed(name: string): Resource {
  const resource = findResource(name);
  if (resource !== undefined) return resource;
  const names = RESOURCES.map((one) => one.name);
  const meant = RESOURCES.find((one) => one.singular === name.toLowerCase())?.name;
  throw usageError(
    `Unknown resource "${name}".${didYouMean(meant ?? name, names)}`,
    `use one of: ${names.join(', ')}.`,
  );
}

const DONE: Readonly<Record<Verb, string>> = {
  list: 'listed',
  get: 'read',
  create: 'created',
  update: 'updated',
  delete: 'deleted',
  batch: 'imported',
};

/** The resource with this name, if it supports the verb. */
export function resourceFor(name: string, verb: Verb): Resource {
  const resource = resourceNamed(name);
  if (resource.verbs.includes(verb)) return resource;
  const next = resource.verbs.includes('create')
    ? `${resource.name} can be ${resource.verbs.map((one) => DONE[one]).join(', ')}.`
    : 'they come from "crm ingest"; the API can only read them.';
  throw usageError(`${resource.name} cannot be ${DONE[verb]}.`, next);
}

/** Path of a resource, or of one record. */
export function resourcePath(resource: Pick<Resource, 'name'>, id?: string): string {
  const base = `/api/v2/${resource.name}`;
  return id === undefined ? base : `${base}/${idSegment(id)}`;
}

/** An ID as part of a path; throws for values that would change the path. */
export function idSegment(id: string): string {
  return encodeURIComponent(checkedId(id));
}

/** The ID; throws for values that would change a path. */
export function checkedId(id: string): string {
  if (/^\.{0,2}$/.test(id)) throw usageError(`"${id}" is not an ID.`, 'use the ID of a record.');
  return id;
}

/** Whether the text is the path of a sub-resource rather than the name of a resource. */
export function isTarget(text: string): boolean {
  return text.includes('/');
}

/** Parses `deals/ID/contacts`; a usage error lists the known sub-resources. */
export function parseTarget(text: string): Target {
  const [resourceName = '', id = '', name = '', ...rest] = text.split('/');
  const resource = resourceNamed(resourceName);
  const link = resource.links[name];
  const association = resource.associations[name];
  if (rest.length > 0 || id === '' || !subResourcesOf(resource).includes(name)) {
    throw unknownTarget(text, resource);
  }
  return { resource, id, name, path: `${resourcePath(resource, id)}/${name}`, link, association };
}

/** Path of a sub-resource whose record has its whole ID. */
export async function wholePath(target: Target, finder: IdFinder): Promise<string> {
  const { resource, name } = target;
  return `${resourcePath(resource, await finder.wholeId(resource.name, target.id))}/${name}`;
}

function unknownTarget(text: string, of: Resource): CliError {
  const known = RESOURCES.flatMap((resource) =>
    subResourcesOf(resource).map((name) => `${resource.name}/ID/${name}`),
  );
  const meant = nearest(text.split('/').at(-1) ?? '', subResourcesOf(of));
  const hint = meant === undefined ? '' : ` Did you mean ${of.name}/ID/${meant}?`;
  return usageError(`Unknown sub-resource "${text}".${hint}`, `use one of: ${known.join(', ')}.`);
}

function subResourcesOf(resource: Resource): string[] {
  const { links, associations } = resource;
  const external = hasExternalIds(resource) ? [EXTERNAL_IDS] : [];
  return [...Object.keys(links), ...Object.keys(associations), ...external];
}
