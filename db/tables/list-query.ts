// The query of a list.
import type { ColumnValue } from '../model/fields.ts';

export type Direction = 'asc' | 'desc';

/** The last row of the previous page: its sort value and its ID. */
export interface Position {
  value: number;
  id: string;
}

export interface ListQuery {
  orgNumber: number;
  /** Only records of this owner; null for all of the organization. */
  ownerId: string | null;
  /** Filters by their name in the declaration, with stored values. */
  filters: Readonly<Record<string, ColumnValue>>;
  /** Inclusive lower bounds, Unix milliseconds. */
  createdSince: number | null;
  updatedSince: number | null;
  sortBy: 'created_at' | 'updated_at';
  direction: Direction;
  after: Position | null;
  /** Maximum number of rows. */
  limit: number;
  /** Fields that the response does not show, read as if unset. */
  unseen?: readonly string[];
}
