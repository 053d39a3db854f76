// The networks of a key, and the default lifetime of an organization's keys.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Comma-separated; null for any network.
  await db.schema.alterTable('api_keys').addColumn('networks', 'text').execute();
  // Milliseconds; null for unlimited.
  await db.schema.alterTable('organizations').addColumn('key_lifetime', 'integer').execute();
}
