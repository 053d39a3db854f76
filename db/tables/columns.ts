// Columns of records in queries: those that are shown, so that a row becomes what a response carries where it is, and keys.
import { type AliasedRawBuilder, type RawBuilder, sql } from 'kysely';
import { keyColumn } from '../model/fields.ts';
import { shownColumns } from '../model/record-forms.ts';
import type { Resource } from '../model/resource.ts';

/** The key by which a field is looked up, as the indexes have it; `table` is what its table is called in the query. */
export function keyExpression(name: string, table?: string): RawBuilder<string> {
  const prefix = table === undefined ? '' : `${table}.`;
  return sql<string>`coalesce(${sql.ref(prefix + keyColumn(name))}, ${sql.ref(prefix + name)})`;
}

/**
 * The columns of a record that are shown, in the order of responses; null holds the place of a computed field, and of one
 * that nobody is going to see.
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
