// IDs of records in other systems. Frozen: later changes are separate migrations.
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('external_ids')
    .addColumn('org_id', 'integer', (c) => c.notNull())
    .addColumn('resource', 'text', (c) => c.notNull())
    .addColumn('source', 'text', (c) => c.notNull())
    .addColumn('external_id', 'text', (c) => c.notNull())
    .addColumn('record_id', 'text', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('external_ids_key', ['org_id', 'resource', 'source', 'external_id'] as never[])
    .modifyEnd(sql`strict, without rowid`)
    .execute();
  // A record has at most one ID of each system.
  await db.schema
    .createIndex('external_ids_record')
    .unique()
    .on('external_ids')
    .columns(['org_id', 'resource', 'record_id', 'source'])
    .execute();
}
