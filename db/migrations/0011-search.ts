// The index of words for search, and what it does not have yet. Frozen: later changes are separate migrations.
import { type Kysely, PostgresAdapter, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  const bytes = db.getExecutor().adapter instanceof PostgresAdapter ? sql`bytea` : 'blob';
  // For each word the records that have it, oldest first, in blocks of about two hundred.
  await db.schema
    .createTable('search_words')
    .addColumn('org_id', 'integer', (c) => c.notNull())
    // What kind of word it is, and the word.
    .addColumn('word', bytes, (c) => c.notNull())
    // The place of the oldest record of the block, in the order in which they were created.
    .addColumn('first', bytes, (c) => c.notNull())
    .addColumn('entries', bytes, (c) => c.notNull())
    .addPrimaryKeyConstraint('search_words_key', ['org_id', 'word', 'first'] as never[])
    .modifyEnd(sql`strict, without rowid`)
    .execute();
  // The records of a write, until the index has them.
  await db.schema
    .createTable('search_pending')
    .addColumn('org_id', 'integer', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('records', 'integer', (c) => c.notNull())
    .addColumn('entries', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('search_pending_key', ['org_id', 'id'] as never[])
    .modifyEnd(sql`strict, without rowid`)
    .execute();
  // An external ID is also found without its source.
  await db.schema
    .createIndex('external_ids_id')
    .on('external_ids')
    .columns(['org_id', 'external_id'])
    .execute();
  await sql`insert into backfills (org_id, name) select number, 'search' from organizations`.execute(db);
}
