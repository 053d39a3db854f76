// Stored responses: compressed, and counted against a limit. Frozen: later changes are separate migrations.
import { type Kysely, PostgresAdapter, sql } from 'kysely';

// How long an older crm can run alongside a newer one on the same database. It cannot read compressed responses.
const BESIDE_OLDER_MS = 24 * 60 * 60 * 1_000;

export async function up(db: Kysely<unknown>): Promise<void> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter;
  // The compressed body, if compression pays; `body` is then empty.
  await db.schema
    .alterTable('idempotency_keys')
    .addColumn('packed', isPostgres ? sql`bytea` : 'blob')
    .execute();
  // Bytes of the body as sent, and of everything stored. Null for rows of a crm that does not count them.
  for (const column of ['body_bytes', 'stored_bytes'])
    await db.schema.alterTable('idempotency_keys').addColumn(column, 'integer').execute();
  // The key whose scopes the response needs.
  await db.schema.alterTable('idempotency_keys').addColumn('key_id', 'text').execute();
  // The size of an organization's responses by hour, and their limit; null for the default.
  await db.schema.alterTable('org_clocks').addColumn('answer_bytes', 'text').execute();
  await db.schema.alterTable('org_clocks').addColumn('answer_bytes_max', 'integer').execute();
  if (!isPostgres) return;
  // Already compressed.
  await sql`alter table idempotency_keys alter column packed set storage external`.execute(db);
  await sql`
    insert into settings (name, value) select 'answers_packed_from', ${String(Date.now() + BESIDE_OLDER_MS)}
    where exists (select from organizations)`.execute(db);
}
