// What an organization may hold at most, and what it holds. Frozen: later changes are migrations of their own.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Beside the clock, whose row each write reads and stores anyway. Null for without a limit, and for not counted.
  for (const column of ['records', 'bytes', 'records_max', 'bytes_max'])
    await db.schema.alterTable('org_clocks').addColumn(column, 'integer').execute();
  // Names the count that is under way, so that of two at once only the later one is taken.
  await db.schema.alterTable('org_clocks').addColumn('count_id', 'text').execute();
  // Of bodies under way: kept with each of its keys too, as one is looked up for each request anyway.
  for (const table of ['organizations', 'api_keys'])
    await db.schema.alterTable(table).addColumn('body_bytes_max', 'integer').execute();
}
