// Indexes for the orders that queries can have. Frozen: later changes are separate migrations.
import { type Kysely, sql } from 'kysely';

// Indexed for the first time, with the records that have no value.
const WHOLE: readonly (readonly [table: string, column: string])[] = [
  ['pipelines', 'updated_at'],
  ['deals', 'estimated_value'],
  ['deals', 'estimated_close_date'],
  ['interactions', 'interaction_date'],
  ['recordings', 'started_at'],
];

// The index that is there has only the records with a value.
const UNSET: readonly (readonly [table: string, column: string, value: string])[] = [
  ['companies', 'name', 'coalesce(name_key, name)'],
  ['tasks', 'due_date', 'due_date'],
  ['meetings', 'start_time', 'start_time'],
  ['bookings', 'start_time', 'start_time'],
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, column] of WHOLE) {
    const index = db.schema.createIndex(`${table}_${column}_order`).on(table);
    await index.columns(['org_id', column, 'id']).execute();
  }
  for (const [table, column, value] of UNSET) {
    const index = db.schema.createIndex(`${table}_${column}_unset`).on(table).columns(['org_id', 'id']);
    await index.where(sql.raw(value), 'is', null).execute();
  }
}
