// Every kind of link by its name, such as deals.contacts: collection sub-resources, and single associations as the same shape.
import type { Association, Link, Resource } from '../resource.ts';
import { getResource, RESOURCES } from './registry.ts';

/** Links between records of one resource and their children. */
export interface LinkKind {
  /** The plural of the parent and the name of the sub-resource: `deals.contacts`. */
  name: string;
  /** The name of the sub-resource alone: `contacts`. */
  ownName: string;
  parent: Resource;
  /** Where the links are; the rows of an association are its parents. */
  link: Link;
  /** The columns with the time of a link: the first that is set. */
  linkedAt: readonly string[];
  /** Null for a collection. */
  association: Association | null;
}

/** All kinds, in the order of the resources. */
export const LINK_KINDS: readonly LinkKind[] = RESOURCES.flatMap((parent) => [
  ...Object.entries(parent.links).map(([ownName, link]) => ({
    ...{ name: `${parent.name}.${ownName}`, ownName, parent },
    ...{ link, linkedAt: ['created_at'], association: null },
  })),
  ...Object.entries(parent.associations).map(([ownName, association]) => ({
    ...{ name: `${parent.name}.${ownName}`, ownName, parent },
    ...{ link: linkOf(parent, association), association },
    linkedAt: [association.linkedAt, 'updated_at'],
  })),
]);

const byLink = new Map(LINK_KINDS.map((kind) => [kind.link, kind]));

/** The kind of the links of a collection. */
export function kindOf(link: Link): LinkKind {
  const kind = byLink.get(link);
  if (kind === undefined) throw new Error(`no resource has links in ${link.table}`);
  return kind;
}

const byName = new Map(LINK_KINDS.map((kind) => [kind.name, kind]));

/** The kind with that name. */
export function findLinkKind(name: string): LinkKind | undefined {
  return byName.get(name);
}

/** The kind with that name, which must exist. */
export function getLinkKind(name: string): LinkKind {
  const kind = findLinkKind(name);
  if (kind === undefined) throw new Error(`unknown kind of link ${name}`);
  return kind;
}

function linkOf(parent: Resource, { column, description }: Association): Link {
  const child = getResource(parent.fields[column]?.references ?? '');
  return {
    ...{
      table: parent.name,
      parentColumn: 'id',
      childColumn: column,
      typedBy: null,
      fields: {},
      description,
    },
    children: { [child.singular]: child.name },
  };
}
