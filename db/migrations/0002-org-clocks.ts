// The last instant that each organization's writes have had: whatever is written next comes after it.
import { type Kysely, sql } from 'kysely';

type Table = Record<string, string | number>;
type Db = Kysely<Record<string, Table>>;

// Where the instants of before are.
const CREATED = ['deal_contacts', 'deal_companies', 'note_records', 'segment_members'];
const UPDATED = [
  'companies',
  'contacts',
  'pipelines',
  'deals',
  'tasks',
  'notes',
  'segments',
  'interactions',
  'meetings',
  'recordings',
  'bookings',
];

export async function up(db: Db): Promise<void> {
  await db.schema
    .createTable('org_clocks')
    .addColumn('org_id', 'text', (c) => c.primaryKey().notNull().references('organizations.id'))
    .addColumn('last_instant', 'integer', (c) => c.notNull())
    .modifyEnd(sql`strict`)
    .execute();
  const instants = [
    ...[...CREATED, ...UPDATED].map((table) => [table, 'created_at'] as const),
    ...UPDATED.map((table) => [table, 'updated_at'] as const),
  ];
  for (const { id, created_at } of await db
    .selectFrom('organizations')
    .select(['id', 'created_at'])
    .execute()) {
    let last = Number(created_at);
    for (const [table, column] of instants) {
      const newest = await db
        .selectFrom(table)
        .select((eb) => eb.fn.max(column).as('instant'))
        .where('org_id', '=', id ?? '')
        .executeTakeFirst();
      last = Math.max(last, Number(newest?.instant ?? 0));
    }
    await db
      .insertInto('org_clocks')
      .values({ org_id: id ?? '', last_instant: last })
      .execute();
  }
}
