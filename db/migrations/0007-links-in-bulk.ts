// Links of a whole organization, newest first. Frozen: later changes are separate migrations.
import { type Kysely, sql } from 'kysely';

const LINKS: Record<string, readonly [parent: string, child: string]> = {
  deal_contacts: ['deal_id', 'contact_id'],
  deal_companies: ['deal_id', 'company_id'],
  note_records: ['note_id', 'record_id'],
  segment_members: ['segment_id', 'record_id'],
};
const ASSOCIATIONS = ['deal', 'company'];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, [parent, child]] of Object.entries(LINKS)) {
    const index = db.schema.createIndex(`${table}_created_at_${parent}_${child}`).on(table);
    await index.columns(['org_id', 'created_at', parent, child]).execute();
  }
  for (const name of ASSOCIATIONS) {
    const child = sql.ref(`${name}_id`);
    const linkedAt = sql.ref(`${name}_linked_at`);
    await db.schema.alterTable('meetings').addColumn(`${name}_linked_at`, 'integer').execute();
    await sql`update meetings set ${linkedAt} = updated_at where ${child} is not null`.execute(db);
    // An older crm, on another node, sets the association without its time.
    await sql`
      create index ${sql.ref(`meetings_${name}_linked_at`)}
      on meetings (org_id, coalesce(${linkedAt}, updated_at), id, ${child}) where ${child} is not null`.execute(
      db,
    );
  }
}
