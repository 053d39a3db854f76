// Names that v2 operations derive from a resource.
import type { Resource } from '../../db/model/resource.ts';
import { singularOf } from '../../db/model/text.ts';

/** Path of a resource's collection. */
export function pathOf(resource: Pick<Resource, 'name'>): string {
  return `/api/v2/${resource.name}`;
}

/** A name with a capital first letter. */
export function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Name of the type of a sub-resource: the parent's name and its own, both singular. */
export function typeNameOf(parent: Resource, name: string): string {
  return capitalized(parent.singular) + capitalized(singularOf(name));
}

/** Name of the group of a resource's operations. */
export function titleOf(resource: Pick<Resource, 'name'>): string {
  return capitalized(resource.name);
}

/** Unique name of an operation: verb and resource, singular if it is about one record. */
export function operationId(verb: string, resource: Resource, isSingular = false): string {
  return verb + capitalized(isSingular ? resource.singular : resource.name);
}
