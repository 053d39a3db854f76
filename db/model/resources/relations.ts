// How records lead to related ones, derived from the declarations: by references, by links, and by lists that are stored as links.
import { memoize } from '../../cache.ts';
import type { Resource, SideTable } from '../resource.ts';
import { getResource } from './registry.ts';

/**
 * A way from a record to related ones: rows with the IDs of both. By an index, those of a record are found in the order of
 * the other ID.
 */
export interface Way {
  /** Whose rows they are: those of the record, with a reference; of related records, with a reference; or of links. */
  readonly kind: 'own' | 'inverse' | 'link';
  readonly table: string;
  /** Column with the ID of the record. */
  readonly own: string;
  /** Column with the ID of the related one, which can be null. */
  readonly other: string;
  /** The `record_type` of such rows, if they can lead to records of several resources; otherwise null. */
  readonly type: string | null;
}

/** All ways from records of a resource to those of another one. */
export interface Relation {
  /** The plural of the target. */
  readonly name: string;
  readonly target: Resource;
  readonly ways: readonly Way[];
}

export type Relations = Readonly<Record<string, Relation>>;

// The relations that filters can name, by resource.
const FILTERED: Readonly<Record<string, readonly string[]>> = {
  contacts: ['companies', 'deals', 'segments'],
  companies: ['contacts', 'deals', 'segments'],
  deals: ['contacts', 'companies'],
  notes: ['contacts', 'companies', 'deals'],
};

/** The relations of a resource that a filter can name, by the plural of their target. */
export const relationsOf = memoize(
  (resource: Resource): Relations => relationsAmong(resource, FILTERED[resource.name] ?? []),
);

/** The relations of a resource to others that have these names, in their order; those that do not exist are left out. */
export function relationsAmong(resource: Resource, targets: readonly string[]): Relations {
  const found = targets.map((name): Relation => {
    const target = getResource(name);
    return { name, target, ways: waysBetween(resource, target) };
  });
  return Object.fromEntries(found.filter(({ ways }) => ways.length > 0).map((one) => [one.name, one]));
}

// A record has no relation to others of its own resource, such as a note to its parent.
function waysBetween(source: Resource, target: Resource): Way[] {
  if (source === target) return [];
  return [
    ...referencesTo(target, source).map((column) => ownWay(source, column)),
    ...referencesTo(source, target).map((column) => inverseWay(target, column)),
    ...linkRowsOf(source).flatMap((rows) => waysThrough(rows, target)),
    ...linkRowsOf(target).flatMap((rows) => waysBack(rows, source)),
  ];
}

/** The way by a column of a resource that has the ID of another record. */
export function ownWay({ name: table }: Resource, column: string): Way {
  return { kind: 'own', table, own: 'id', other: column, type: null };
}

function inverseWay({ name: table }: Resource, column: string): Way {
  return { kind: 'inverse', table, own: column, other: 'id', type: null };
}

/** The columns of a resource with the ID of a record of another one (or of `users` or `stages`). */
export function referencesTo({ name }: Pick<Resource, 'name'>, { fields }: Resource): string[] {
  return Object.entries(fields).flatMap(([column, { kind, references }]) =>
    kind === 'reference' && references === name ? [column] : [],
  );
}

/** Rows that link records of a resource to others; `isMixed` if only a row says to which resource. */
interface LinkRows extends SideTable {
  isMixed: boolean;
}

function linkRowsOf({ links, sideTables }: Resource): LinkRows[] {
  return [
    ...Object.values(links).map((link) => ({ ...link, isMixed: link.typedBy === 'link' })),
    ...sideTables.map((rows) => ({ ...rows, isMixed: false })),
  ];
}

// From the parent to the child of each row.
function waysThrough({ table, parentColumn, childColumn, children, isMixed }: LinkRows, to: Resource): Way[] {
  const types = Object.keys(children).filter((type) => children[type] === to.name);
  return types.map((type) => ({
    ...{ kind: 'link', table, own: parentColumn, other: childColumn },
    type: isMixed ? type : null,
  }));
}

// From the child to the parent. No record of another resource has the child's ID.
function waysBack({ table, parentColumn, childColumn, children }: LinkRows, from: Resource): Way[] {
  if (!Object.values(children).includes(from.name)) return [];
  return [{ kind: 'link', table, own: childColumn, other: parentColumn, type: null }];
}
