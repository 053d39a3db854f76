// What is not filled in yet from records of an older crm. Frozen: later changes are separate migrations.
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // A row for each organization and part of the database that is not complete. A migration that adds a part adds its rows.
  await db.schema
    .createTable('backfills')
    .addColumn('org_id', 'integer', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    // How far it is, in a form of its own; null before it began.
    .addColumn('place', 'text')
    // Read so far, and in all, as counted at the beginning.
    .addColumn('records', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('total', 'integer')
    .addPrimaryKeyConstraint('backfills_key', ['org_id', 'name'] as never[])
    .modifyEnd(sql`strict, without rowid`)
    .execute();
}
