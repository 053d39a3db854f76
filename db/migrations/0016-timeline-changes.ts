// Updates show on timelines from the log itself, which tells on which company. Frozen: later changes are separate migrations.
import { type Kysely, PostgresAdapter, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter;
  await db.schema
    .alterTable('changes')
    .addColumn('company', isPostgres ? sql`bytea` : 'blob')
    .execute();
  // Of the log that an older crm has written: the company that the contact or deal has now.
  const id = isPostgres ? sql`cast(encode(changes.record, 'hex') as uuid)::text` : ID_OF_BLOB;
  const company = (table: string) =>
    isPostgres
      ? sql`select decode(replace(company_id, '-', ''), 'hex') from ${sql.table(table)}`
      : sql`select unhex(company_id, '-') from ${sql.table(table)}`;
  for (const [resource, table] of [[0, 'contacts'] as const, [2, 'deals'] as const])
    await sql`
      update changes set company = (${company(table)} where org_id = changes.org_id and id = ${id})
      where action = 1 and resource = ${sql.lit(resource)} and length(record) = 16`.execute(db);
  // Since there are timelines: the one that it had.
  await sql`
    update changes set company = case when length(entry.via) = 16 then entry.via end from timeline_entries as entry
    where entry.kind = 14 and entry.org_id = changes.org_id and entry.sequence = changes.sequence`.execute(
    db,
  );
  await sql`delete from timeline_entries where kind >= 14`.execute(db);
  // By spans of the log, because a group of writes would otherwise change a page of the index for each record.
  await db.schema
    .createIndex('changes_company')
    .on('changes')
    .column('org_id')
    .expression(sql`(sequence >> 10)`)
    .columns(['company', 'at', 'record', 'sequence'])
    .where(sql.ref('company'), 'is not', null)
    .execute();
}

const DIGITS = sql`lower(hex(changes.record))`;
const PARTS = [
  [1, 8],
  [9, 4],
  [13, 4],
  [17, 4],
  [21, 12],
].map(([from, length]) => sql`substr(${DIGITS}, ${sql.lit(from)}, ${sql.lit(length)})`);
const ID_OF_BLOB = sql.join(PARTS, sql` || '-' || `);
