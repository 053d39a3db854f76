// The limits of an organization, and what it holds. Frozen: later changes are separate migrations.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // In the row of the clock, which each write reads and stores anyway. Null for no limit, and for not counted.
  for (const column of ['records', 'bytes', 'records_max', 'bytes_max'])
    await db.schema.alterTable('org_clocks').addColumn(column, 'integer').execute();
  // Identifies the count in progress, so that of two concurrent counts only the later one is used.
  await db.schema.alterTable('org_clocks').addColumn('count_id', 'text').execute();
  // Bytes in flight: also stored with each key, because one is looked up for each request anyway.
  for (const table of ['organizations', 'api_keys'])
    await db.schema.alterTable(table).addColumn('body_bytes_max', 'integer').execute();
}
