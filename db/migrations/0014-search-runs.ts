// The search index in sorted runs: long rows written once, instead of a short row for each word. Frozen like all before it.
import { type Kysely, PostgresAdapter, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  const bytes = db.getExecutor().adapter instanceof PostgresAdapter ? sql`bytea` : 'blob';
  await db.schema.dropTable('search_words').execute();
  // What was indexed together, and what such runs were merged into.
  await db.schema
    .createTable('search_runs')
    .addColumn('org_id', 'integer', (c) => c.notNull())
    .addColumn('run', 'integer', (c) => c.notNull())
    // Newer runs have greater ages; what a newer one says of a record holds.
    .addColumn('age', 'integer', (c) => c.notNull())
    .addColumn('bytes', 'integer', (c) => c.notNull())
    // How many records it removes from lists of older runs.
    .addColumn('removals', 'integer', (c) => c.notNull())
    // The places of the oldest and the newest record in it.
    .addColumn('low', bytes, (c) => c.notNull())
    .addColumn('high', bytes, (c) => c.notNull())
    // Of a run that others are being merged into: 0, and the key up to which they are.
    .addColumn('is_built', 'integer', (c) => c.notNull())
    .addColumn('done', bytes)
    // Of a run that is being merged, or was: the run that has its entries then, and since when that is complete.
    .addColumn('merged_into', 'integer')
    .addColumn('gone_at', 'integer')
    .addPrimaryKeyConstraint('search_runs_key', ['org_id', 'run'] as never[])
    .modifyEnd(sql`strict, without rowid`)
    .execute();
  await db.schema
    .createTable('search_rows')
    .addColumn('org_id', 'integer', (c) => c.notNull())
    // The run, the first list in the row, and the place of the first record in that.
    .addColumn('key', bytes, (c) => c.notNull())
    .addColumn('entries', bytes, (c) => c.notNull())
    .addPrimaryKeyConstraint('search_rows_key', ['org_id', 'key'] as never[])
    .modifyEnd(sql`strict, without rowid`)
    .execute();
  // All records are indexed again.
  await sql`delete from search_pending`.execute(db);
  await sql`delete from backfills where name = 'search'`.execute(db);
  await sql`insert into backfills (org_id, name) select number, 'search' from organizations`.execute(db);
}
