// From where a key may be used, and how long the keys of an organization last unless said.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Comma-separated; null for from anywhere.
  await db.schema.alterTable('api_keys').addColumn('networks', 'text').execute();
  // Milliseconds; null for without an end.
  await db.schema.alterTable('organizations').addColumn('key_lifetime', 'integer').execute();
}
