// The change log: a row for each change of a record or link. Frozen: later changes are separate migrations.
import { type Kysely, PostgresAdapter, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  const bytes = db.getExecutor().adapter instanceof PostgresAdapter ? sql`bytea` : 'blob';
  await db.schema
    .createTable('changes')
    .addColumn('org_id', 'integer', (c) => c.notNull())
    .addColumn('sequence', 'integer', (c) => c.notNull())
    .addColumn('at', 'integer', (c) => c.notNull())
    .addColumn('action', 'integer', (c) => c.notNull())
    .addColumn('resource', 'integer', (c) => c.notNull())
    .addColumn('record', bytes, (c) => c.notNull())
    // The number of a key; 0 for operators.
    .addColumn('actor', 'integer', (c) => c.notNull())
    .addColumn('request', bytes)
    .addColumn('cause', 'integer')
    .addColumn('owner', bytes)
    .addColumn('data', 'text')
    .addPrimaryKeyConstraint('changes_key', ['org_id', 'sequence'] as never[])
    .modifyEnd(sql`strict, without rowid`)
    .execute();
  // Without the changes that created records, which their IDs lead to. By spans of the log, because a group of writes would
  // otherwise change a page of the index for each record.
  await db.schema
    .createIndex('changes_record')
    .on('changes')
    .column('org_id')
    .expression(sql`(sequence >> 10)`)
    .column('record')
    .where(sql.ref('action'), '<>', sql.lit(0))
    .execute();
  // In the row that each write reads and stores anyway. A crm that does not know the log cannot write without this name.
  await db.schema.alterTable('org_clocks').renameColumn('last_instant', 'instant').execute();
  for (const [column, initial] of [['last_change', 0] as const, ['first_change', 1] as const])
    await db.schema
      .alterTable('org_clocks')
      .addColumn(column, 'integer', (c) => c.notNull().defaultTo(initial))
      .execute();
  // Short, because each change contains the number of its key.
  await db.schema.alterTable('api_keys').addColumn('number', 'integer').execute();
  await sql`
    update api_keys set number = (
      select count(*) from api_keys as earlier where earlier.org_id = api_keys.org_id and earlier.id <= api_keys.id
    )`.execute(db);
  await db.schema
    .createIndex('api_keys_number_unique')
    .unique()
    .on('api_keys')
    .columns(['org_id', 'number'])
    .execute();
}
