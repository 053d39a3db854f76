// The size of records in bytes: the text in their fields.

import { type RawBuilder, sql } from 'kysely';
import { memoize } from '../cache.ts';
import { type Db, tableOf } from '../engine/schema.ts';
import type { RecordTotals } from '../engine/transaction.ts';
import type { Field } from '../model/fields.ts';
import type { JsonValue } from '../model/json.ts';
import type { Resource } from '../model/resource.ts';
import { RESOURCES } from '../model/resources/registry.ts';
import { isShown } from '../model/schemas.ts';

// IDs, enums, numbers and timestamps have a fixed size that no one can choose. They do not count, and so changes of them
// that a write causes in other records do not count either.
const contentOf = memoize((resource: Resource): [name: string, field: Field][] =>
  Object.entries(resource.fields).filter(
    ([, field]) =>
      field.column === 'text' && isShown(field) && field.references === undefined && field.kind !== 'enum',
  ),
);

/** The size of a record, or of some of its fields, in stored or shown form. */
export function bytesOf(resource: Resource, record: Readonly<Record<string, JsonValue | undefined>>): number {
  let bytes = 0;
  for (const [name, { encode }] of contentOf(resource)) {
    const value = record[name] ?? null;
    if (value !== null) bytes += bytesIn(typeof value === 'string' ? value : encode(value));
  }
  return bytes;
}

/** The size of a text as stored, in UTF-8; 0 if there is none. */
export function bytesIn(text: unknown): number {
  return typeof text === 'string' ? Buffer.byteLength(text) : 0;
}

/** Counts what an organization holds by reading all of it. */
export async function countRecordTotals(db: Db, orgNumber: number): Promise<RecordTotals> {
  let records = 0;
  let bytes = await bytesInColumns(db, 'recording_transcripts', ['segments'], orgNumber);
  bytes += await bytesInColumns(db, 'external_ids', ['source', 'external_id'], orgNumber);
  for (const resource of RESOURCES) {
    const table = tableOf(resource);
    const { total } = await db
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .where('org_id', '=', orgNumber)
      .executeTakeFirstOrThrow();
    records += Number(total);
    const columns = contentOf(resource).map(([name]) => name);
    bytes += await bytesInColumns(db, table, columns, orgNumber);
  }
  return { records, bytes };
}

async function bytesInColumns(db: Db, table: string, columns: string[], orgNumber: number): Promise<number> {
  const lengths: RawBuilder<unknown>[] = columns.map(
    (name) => sql`coalesce(octet_length(${sql.ref(name)}), 0)`,
  );
  const { rows } = await sql<{ bytes: number | null }>`
    select sum(${sql.join(lengths, sql` + `)}) as bytes from ${sql.table(table)} where org_id = ${orgNumber}`.execute(
    db,
  );
  return Number(rows[0]?.bytes ?? 0);
}
