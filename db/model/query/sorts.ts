// The orders of a query: by which field, where nulls go, and which of two records comes first.
import { memoize } from '../../cache.ts';
import type { Resource, Row } from '../resource.ts';
import { compareText, lowerCase } from './text-order.ts';

export type QueryDirection = 'asc' | 'desc';

/** A field to sort by. */
export interface QuerySort {
  name: string;
  /** `id`: IDs are in the order of `created_at`. `text`: by its lower case. */
  by: 'id' | 'text' | 'value';
  /** Whether its values are text: also days, and IDs instead of `created_at`. */
  isText: boolean;
}

/** The place of a record in an order: its sort value (null also if that is the ID itself), and its ID. */
export interface QueryPlace {
  value: string | number | null;
  id: string;
}

const sortsOf = memoize(({ fields, alsoSortedBy }: Resource): ReadonlyMap<string, QuerySort> => {
  const names = ['updated_at', ...alsoSortedBy];
  const others = names.map((name): QuerySort => {
    const { kind, column } = fields[name] ?? {};
    return { name, by: kind === 'text' ? 'text' : 'value', isText: column === 'text' };
  });
  const all: QuerySort[] = [{ name: 'created_at', by: 'id', isText: true }, ...others];
  return new Map(all.map((sort) => [sort.name, sort]));
});

/** The names of the fields that a query of the resource can be sorted by. */
export function querySorts(resource: Resource): string[] {
  return [...sortsOf(resource).keys()];
}

/** The sort by a field, which must be one of them. */
export function getQuerySort(resource: Resource, name: string): QuerySort {
  const sort = sortsOf(resource).get(name);
  if (sort === undefined) throw new Error(`${resource.name} cannot be sorted by ${name}`);
  return sort;
}

/** The place of a row whose sort column was read. */
export function queryPlaceOf({ name, by }: QuerySort, row: Row): QueryPlace {
  const value = by === 'id' ? null : (row[name] ?? null);
  return { value: by === 'text' && value !== null ? lowerCase(String(value)) : value, id: String(row.id) };
}

/** Which of two places comes first: nulls are last in both directions, and ties go by ID in the same direction. */
export function inQueryOrder(direction: QueryDirection): (one: QueryPlace, other: QueryPlace) => number {
  const sign = direction === 'asc' ? 1 : -1;
  return (one, other) => {
    if (one.value === null || other.value === null) {
      if (one.value !== other.value) return one.value === null ? 1 : -1;
    } else {
      const order = compareValues(one.value, other.value);
      if (order !== 0) return sign * order;
    }
    return one.id === other.id ? 0 : sign * (one.id < other.id ? -1 : 1);
  };
}

function compareValues(one: string | number, other: string | number): number {
  return typeof one === 'number' ? one - Number(other) : compareText(one, String(other));
}
