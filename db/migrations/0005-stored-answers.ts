// Stored answers: compressed, and counted towards a budget. Frozen: later changes are migrations of their own.
import { type Kysely, PostgresAdapter, sql } from 'kysely';

// How long an older crm may answer beside a newer one that has begun to serve the database. It reads no compressed answer.
const BESIDE_OLDER_MS = 24 * 60 * 60 * 1_000;

export async function up(db: Kysely<unknown>): Promise<void> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter;
  // The body, compressed, where that pays; `body` is empty then.
  await db.schema
    .alterTable('idempotency_keys')
    .addColumn('packed', isPostgres ? sql`bytea` : 'blob')
    .execute();
  // Of the body as it is sent, and of all that is stored. Null for a row of a crm that does not count them.
  for (const column of ['body_bytes', 'stored_bytes'])
    await db.schema.alterTable('idempotency_keys').addColumn(column, 'integer').execute();
  // Whose scopes the answer needs.
  await db.schema.alterTable('idempotency_keys').addColumn('key_id', 'text').execute();
  // What the answers of an organization take, by the hour, and may take; null for as much as any other.
  await db.schema.alterTable('org_clocks').addColumn('answer_bytes', 'text').execute();
  await db.schema.alterTable('org_clocks').addColumn('answer_bytes_max', 'integer').execute();
  if (!isPostgres) return;
  // It is as small as it gets.
  await sql`alter table idempotency_keys alter column packed set storage external`.execute(db);
  await sql`
    insert into settings (name, value) select 'answers_packed_from', ${String(Date.now() + BESIDE_OLDER_MS)}
    where exists (select from organizations)`.execute(db);
}
