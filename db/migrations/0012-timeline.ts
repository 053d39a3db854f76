// What happened to contacts, companies and deals, in order. Frozen: later changes are separate migrations.
import { type Kysely, PostgresAdapter, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  const bytes = db.getExecutor().adapter instanceof PostgresAdapter ? sql`bytea` : 'blob';
  await db.schema
    .createTable('timeline_entries')
    .addColumn('org_id', 'integer', (c) => c.notNull())
    // The record that it shows on, or an address of people in calendars.
    .addColumn('subject', bytes, (c) => c.notNull())
    .addColumn('kind', 'integer', (c) => c.notNull())
    .addColumn('at', 'integer', (c) => c.notNull())
    .addColumn('record', bytes, (c) => c.notNull())
    // Tells entries of one record apart.
    .addColumn('sequence', 'integer', (c) => c.notNull())
    // The contact or deal through which it shows on a company; of an update on its own timeline, that company; or empty.
    .addColumn('via', bytes, (c) => c.notNull())
    .addColumn('detail', 'text')
    .addPrimaryKeyConstraint('timeline_entries_key', [
      'org_id',
      'subject',
      'kind',
      'at',
      'record',
      'sequence',
      'via',
    ] as never[])
    .modifyEnd(sql`strict, without rowid`)
    .execute();
  // Without updates, of which there are most.
  await db.schema
    .createIndex('timeline_entries_record')
    .on('timeline_entries')
    .columns(['org_id', 'record', 'subject'])
    .where(sql.ref('kind'), '<', sql.lit(14))
    .execute();
  await sql`insert into backfills (org_id, name) select number, 'timeline' from organizations`.execute(db);
  // A crm that does not know timelines cannot write without this name.
  await db.schema.alterTable('org_clocks').renameColumn('first_change', 'oldest_change').execute();
}
