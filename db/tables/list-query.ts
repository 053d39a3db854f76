// What a list is asked for.
import type { ColumnValue } from '../model/fields.ts';

export type Direction = 'asc' | 'desc';

/** The last row of the page before: the value it was sorted by, and its id. */
export interface Position {
  value: number;
  id: string;
}

export interface ListQuery {
  orgId: number;
  /** Only records of this owner; null for all of the organization. */
  ownerId: string | null;
  /** Filters by their name in the declaration, with values as stored. */
  filters: Readonly<Record<string, ColumnValue>>;
  /** Inclusive lower bounds, Unix milliseconds. */
  createdSince: number | null;
  updatedSince: number | null;
  sortBy: 'created_at' | 'updated_at';
  direction: Direction;
  after: Position | null;
  /** How many rows at most. */
  limit: number;
  /** Fields that nobody is going to see: they are read as if unset. */
  unseen?: readonly string[];
}
