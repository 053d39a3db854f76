// Webhooks, the changes that wait for them, and what was delivered. Frozen: later changes are separate migrations.
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('webhooks')
    .addColumn('org_id', 'integer', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('url', 'text', (c) => c.notNull())
    // A JSON array.
    .addColumn('events', 'text', (c) => c.notNull())
    .addColumn('description', 'text')
    .addColumn('is_enabled', 'integer', (c) => c.notNull())
    .addColumn('disabled_reason', 'text')
    // Of the key that made it.
    .addColumn('key_number', 'integer', (c) => c.notNull())
    .addColumn('user_id', 'text')
    // Encrypted.
    .addColumn('secret', 'text', (c) => c.notNull())
    .addColumn('previous_secret', 'text')
    .addColumn('previous_secret_until', 'integer')
    .addColumn('place', 'integer', (c) => c.notNull())
    .addColumn('epoch', 'text', (c) => c.notNull())
    .addColumn('skipped_at', 'integer')
    .addColumn('failing_since', 'integer')
    .addColumn('last_success_at', 'integer')
    .addColumn('lease_holder', 'text')
    .addColumn('lease_until', 'integer')
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('updated_at', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('webhooks_key', ['org_id', 'id'] as never[])
    .modifyEnd(sql`strict, without rowid`)
    .execute();
  await db.schema
    .createTable('webhook_passes')
    .addColumn('org_id', 'integer', (c) => c.notNull())
    .addColumn('webhook_id', 'text', (c) => c.notNull())
    .addColumn('pass', 'integer', (c) => c.notNull())
    .addColumn('place', 'integer', (c) => c.notNull())
    .addColumn('last', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('webhook_passes_key', ['org_id', 'webhook_id', 'pass'] as never[])
    .modifyEnd(sql`strict, without rowid`)
    .execute();
  await db.schema
    .createTable('webhook_waiting')
    .addColumn('org_id', 'integer', (c) => c.notNull())
    .addColumn('webhook_id', 'text', (c) => c.notNull())
    .addColumn('pass', 'integer', (c) => c.notNull())
    .addColumn('sequence', 'integer', (c) => c.notNull())
    .addColumn('resource', 'integer', (c) => c.notNull())
    .addColumn('record', 'text', (c) => c.notNull())
    .addColumn('attempt', 'integer', (c) => c.notNull())
    .addColumn('next_attempt_at', 'integer')
    .addPrimaryKeyConstraint('webhook_waiting_key', ['org_id', 'webhook_id', 'pass', 'sequence'] as never[])
    .modifyEnd(sql`strict, without rowid`)
    .execute();
  await db.schema
    .createTable('webhook_deliveries')
    .addColumn('org_id', 'integer', (c) => c.notNull())
    .addColumn('webhook_id', 'text', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('sequence', 'integer')
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('attempt', 'integer', (c) => c.notNull())
    .addColumn('at', 'integer', (c) => c.notNull())
    .addColumn('ms', 'integer')
    .addColumn('status', 'integer')
    .addColumn('outcome', 'text', (c) => c.notNull())
    .addColumn('next_attempt_at', 'integer')
    .addPrimaryKeyConstraint('webhook_deliveries_key', ['org_id', 'webhook_id', 'id'] as never[])
    .modifyEnd(sql`strict, without rowid`)
    .execute();
  // Finds pings that wait to be sent.
  await db.schema
    .createIndex('webhook_deliveries_pending')
    .on('webhook_deliveries')
    .columns(['org_id', 'webhook_id', 'id'])
    .where(sql.ref('outcome'), '=', sql.lit('pending'))
    .execute();
}
