// Where the ends of links are: every way of a relation as rows with the IDs of both ends.
import type { Resource } from '../model/resource.ts';
import type { Relation, Way } from '../model/resources/relations.ts';

/** Rows with the ID of a record and that of a related one. */
export interface EndTable {
  table: string;
  /** Column with the ID of the record. */
  own: string;
  /** Column with the ID of the related record, which can be null. */
  other: string;
  /** The `record_type` of such rows; null if all are. */
  type: string | null;
}

/** The table of related records that belong to users, and the column with their owner. */
export interface OwnedEnd {
  table: string;
  owner: string;
}

/** The ties of a relation, one for each way. */
export function endTablesOf(resource: Resource, { target, ways }: Relation): EndTable[] {
  return ways.map((way) => endTableOf(resource, target, way));
}

function endTableOf(resource: Resource, target: Resource, way: Way): EndTable {
  switch (way.kind) {
    case 'own':
      return { table: resource.name, own: 'id', other: way.column, type: null };
    case 'inverse':
      return { table: target.name, own: way.column, other: 'id', type: null };
    case 'table':
      return { table: way.table, own: way.own, other: way.other, type: way.type };
  }
}
