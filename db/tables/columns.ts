// Columns of records in queries: the shown ones, whose rows become responses in place, and keys.
import { type AliasedRawBuilder, type RawBuilder, sql } from 'kysely';
import { keyColumn } from '../model/fields.ts';
import { shownColumns } from '../model/record-forms.ts';
import type { Resource } from '../model/resource.ts';

/** The lookup key of a field, as the indexes define it; `table` is the table's alias in the query. */
export function keyExpression(name: string, table?: string): RawBuilder<string> {
  const prefix = table === undefined ? '' : `${table}.`;
  return sql<string>`coalesce(${sql.ref(prefix + keyColumn(name))}, ${sql.ref(prefix + name)})`;
}

/**
 * The shown columns of a record in the order of responses; null takes the place of a computed field, and of one that the
 * response does not show.
 */
export function columnsOf(
  { fields }: Resource,
  table?: string,
  unseen: readonly string[] = [],
): AliasedRawBuilder<unknown, string>[] {
  const prefix = table === undefined ? '' : `${table}.`;
  return shownColumns(fields).map(({ name, isStored }) =>
    (isStored && !unseen.includes(name) ? sql.ref(prefix + name) : sql`null`).as(name),
  );
}
