// How records lead to related ones, derived from the declarations: by references, links, and rows that tie them.
import { memoize } from '../../cache.ts';
import type { Resource, SideTable } from '../resource.ts';
import { getResource } from './registry.ts';

/** A way from a record to related ones; each is found in the order of the IDs at its other end by an index. */
export type Way =
  /** A reference in the record itself. */
  | { readonly kind: 'own'; readonly column: string }
  /** A reference to the record in the related one. */
  | { readonly kind: 'inverse'; readonly column: string }
  /** Rows that tie both, with the columns of either ID. */
  | {
      readonly kind: 'table';
      readonly table: string;
      readonly own: string;
      readonly other: string;
      /** The `record_type` of such rows, if they can lead to records of several resources; otherwise null. */
      readonly type: string | null;
    };

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
    ...referencesTo(target, source).map((column): Way => ({ kind: 'own', column })),
    ...referencesTo(source, target).map((column): Way => ({ kind: 'inverse', column })),
    ...tiesOf(source).flatMap((tie) => waysThrough(tie, target)),
    ...tiesOf(target).flatMap((tie) => waysBack(tie, source)),
  ];
}

/** The columns of a resource with the ID of a record of another one (or of `users` or `stages`). */
export function referencesTo({ name }: Pick<Resource, 'name'>, { fields }: Resource): string[] {
  return Object.entries(fields).flatMap(([column, { kind, references }]) =>
    kind === 'reference' && references === name ? [column] : [],
  );
}

/** Rows that tie records of a resource to others; `isMixed` if only a row says to which resource. */
interface TieRows extends SideTable {
  isMixed: boolean;
}

function tiesOf({ links, sideTables }: Resource): TieRows[] {
  return [
    ...Object.values(links).map((link) => ({ ...link, isMixed: link.typedBy === 'link' })),
    ...sideTables.map((rows) => ({ ...rows, isMixed: false })),
  ];
}

// From the parent to the child of each row.
function waysThrough({ table, parentColumn, childColumn, children, isMixed }: TieRows, to: Resource): Way[] {
  const types = Object.keys(children).filter((type) => children[type] === to.name);
  return types.map((type) => ({
    ...{ kind: 'table' as const, table, own: parentColumn, other: childColumn },
    type: isMixed ? type : null,
  }));
}

// From the child to the parent. No record of another resource has the child's ID.
function waysBack({ table, parentColumn, childColumn, children }: TieRows, from: Resource): Way[] {
  if (!Object.values(children).includes(from.name)) return [];
  return [{ kind: 'table', table, own: childColumn, other: parentColumn, type: null }];
}
