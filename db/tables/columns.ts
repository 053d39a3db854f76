// What is selected of a record: the columns that are shown, so that its row becomes what a response carries where it is.
import { type AliasedRawBuilder, sql } from 'kysely';
import { shownColumns } from '../declare/forms.ts';
import type { Resource } from '../declare/resource.ts';

/** The columns of a record that are shown, in the order of responses; null holds the place of a computed field. */
export function columnsOf({ fields }: Resource, table?: string): AliasedRawBuilder<unknown, string>[] {
  const prefix = table === undefined ? '' : `${table}.`;
  return shownColumns(fields).map(({ name, isStored }) =>
    (isStored ? sql.ref(prefix + name) : sql`null`).as(name),
  );
}
