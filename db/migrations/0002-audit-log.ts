// The audit log, which the database itself protects against changes. Frozen: later changes are separate migrations.
import { type Kysely, PostgresAdapter, sql } from 'kysely';

const REFUSAL = sql.lit(
  'audit_log is only added to: entries are never changed, and kept for 30 days at least',
);
const KEPT_SECONDS = sql.lit(30 * 24 * 60 * 60);

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('audit_log')
    // 0 for entries that belong to no organization.
    .addColumn('org_id', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('actor_type', 'text', (c) => c.notNull())
    .addColumn('actor', 'text', (c) => c.notNull())
    .addColumn('user_id', 'text')
    .addColumn('origin', 'text', (c) => c.notNull())
    .addColumn('action', 'text', (c) => c.notNull())
    .addColumn('target_type', 'text')
    .addColumn('target_id', 'text')
    .addColumn('request_id', 'text')
    .addColumn('details', 'text')
    .addPrimaryKeyConstraint('audit_log_key', ['org_id', 'created_at', 'id'] as never[])
    .modifyEnd(sql`strict, without rowid`)
    .execute();
  await db.schema.createIndex('audit_log_age').on('audit_log').columns(['created_at', 'id']).execute();
  for (const statement of db.getExecutor().adapter instanceof PostgresAdapter ? ON_POSTGRES : ON_SQLITE)
    await statement.execute(db);
}

const ON_SQLITE = [
  sql`
    create trigger audit_log_unchanged before update on audit_log
    begin select raise(abort, ${REFUSAL}); end`,
  sql`
    create trigger audit_log_kept before delete on audit_log
    when old.created_at > (unixepoch() - ${KEPT_SECONDS}) * 1000
    begin select raise(abort, ${REFUSAL}); end`,
];

// A statement trigger has no old row, and so no age.
const ON_POSTGRES = [
  sql`
    create function keep_audit_log() returns trigger language plpgsql as $$
    begin
      if old.created_at <= (extract(epoch from now()) - ${KEPT_SECONDS}) * 1000 then return old; end if;
      raise exception using message = ${REFUSAL};
    end $$`,
  sql`
    create trigger audit_log_unchanged before update or truncate on audit_log
    for each statement execute function keep_audit_log()`,
  sql`
    create trigger audit_log_kept before delete on audit_log
    for each row execute function keep_audit_log()`,
];
