// The limits of requests of an organization, and of a key. Frozen: later changes are separate migrations.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Requests per minute; null for the limit of the server.
  for (const table of ['organizations', 'api_keys'])
    await db.schema.alterTable(table).addColumn('requests_per_minute', 'integer').execute();
  // The organization's: also stored with each key, because one is looked up for each request anyway.
  await db.schema.alterTable('api_keys').addColumn('org_requests_per_minute', 'integer').execute();
}
