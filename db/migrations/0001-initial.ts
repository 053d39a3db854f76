// The first schema: accounts, records, links, idempotency. Frozen: later changes are migrations of their own.
import { type CreateTableBuilder, type Kysely, sql } from 'kysely';

type Db = Kysely<unknown>;
type Columns = Record<string, 'text' | 'integer' | 'real'>;

const RECORD_TABLES: Record<string, Columns> = {
  companies: {
    domain: 'text',
    name: 'text',
    name_key: 'text',
    linkedin: 'text',
    twitter: 'text',
    facebook: 'text',
    instagram: 'text',
    crunchbase: 'text',
    industry: 'text',
    employee_count: 'integer',
    estimated_revenue: 'real',
    city: 'text',
    state: 'text',
    country: 'text',
    owner_id: 'text',
    custom: 'text',
    last_interaction_at: 'integer',
  },
  contacts: {
    email: 'text',
    alt_emails: 'text',
    first_name: 'text',
    last_name: 'text',
    title: 'text',
    phone: 'text',
    personal_phone: 'text',
    linkedin: 'text',
    twitter: 'text',
    facebook: 'text',
    instagram: 'text',
    whatsapp: 'text',
    remarks: 'text',
    company_id: 'text',
    owner_id: 'text',
    keep_in_touch: 'integer',
    custom: 'text',
    last_interaction_at: 'integer',
  },
  pipelines: { name: 'text' },
  deals: {
    name: 'text',
    pipeline_id: 'text',
    stage_id: 'text',
    status: 'text',
    estimated_value: 'real',
    currency: 'text',
    estimated_close_date: 'text',
    company_id: 'text',
    point_of_contact_id: 'text',
    owner_id: 'text',
    custom: 'text',
    stage_changed_at: 'integer',
    closed_at: 'integer',
  },
  tasks: {
    name: 'text',
    description: 'text',
    due_date: 'integer',
    done: 'integer',
    company_id: 'text',
    deal_id: 'text',
    person_id: 'text',
    main_assignee_id: 'text',
    done_at: 'integer',
  },
  notes: { title: 'text', content: 'text', parent_id: 'text', is_archived: 'integer' },
  segments: { name: 'text', description: 'text', record_type: 'text' },
  interactions: {
    type: 'text',
    direction: 'text',
    title: 'text',
    summary: 'text',
    interaction_date: 'integer',
    main_contact: 'text',
    primary_id: 'text',
    secondary_id: 'text',
  },
  meetings: {
    external_id: 'text',
    title: 'text',
    description: 'text',
    location: 'text',
    start_time: 'integer',
    end_time: 'integer',
    timezone: 'text',
    status: 'text',
    organizer: 'text',
    attendees: 'text',
    deal_id: 'text',
    company_id: 'text',
    owner_id: 'text',
    sequence: 'integer',
  },
  recordings: {
    external_id: 'text',
    meeting_id: 'text',
    title: 'text',
    started_at: 'integer',
    duration_seconds: 'real',
    has_transcript: 'integer',
    owner_id: 'text',
  },
  bookings: {
    external_id: 'text',
    title: 'text',
    description: 'text',
    status: 'text',
    start_time: 'integer',
    end_time: 'integer',
    timezone: 'text',
    organizer: 'text',
    attendee: 'text',
    attendee_email: 'text',
    attendee_email_key: 'text',
    guests: 'text',
    cancellation_reason: 'text',
    meeting_id: 'text',
    owner_id: 'text',
  },
};

// Columns that lists filter by and deletes clear: each is searched together with the order of the list.
const FILTERED: Record<string, string[]> = {
  companies: ['name_key', 'owner_id'],
  contacts: ['phone', 'personal_phone', 'company_id', 'owner_id'],
  deals: ['pipeline_id', 'stage_id', 'status', 'owner_id', 'company_id', 'point_of_contact_id'],
  tasks: ['main_assignee_id', 'done', 'company_id', 'deal_id', 'person_id', 'due_date'],
  notes: ['parent_id', 'created_by', 'is_archived'],
  segments: ['created_by', 'record_type'],
  interactions: ['created_by', 'type', 'direction'],
  meetings: ['deal_id', 'company_id', 'owner_id', 'start_time'],
  recordings: ['meeting_id', 'has_transcript', 'owner_id'],
  bookings: ['status', 'attendee_email_key', 'meeting_id', 'owner_id', 'start_time'],
};

// Those of them that lists look for by range: what they find has to be sorted anyway.
const RANGES = ['due_date', 'start_time'];

const UNIQUE: [table: string, column: string][] = [
  ['companies', 'domain'],
  ['meetings', 'external_id'],
  ['recordings', 'external_id'],
  ['bookings', 'external_id'],
];

// References between records; users are never deleted, stages only with their pipeline.
const FOREIGN_KEYS: [table: string, column: string, target: string][] = [
  ['contacts', 'company_id', 'companies'],
  ['contacts', 'owner_id', 'users'],
  ['companies', 'owner_id', 'users'],
  ['deals', 'pipeline_id', 'pipelines'],
  ['deals', 'stage_id', 'pipeline_stages'],
  ['deals', 'company_id', 'companies'],
  ['deals', 'point_of_contact_id', 'contacts'],
  ['deals', 'owner_id', 'users'],
  ['tasks', 'company_id', 'companies'],
  ['tasks', 'deal_id', 'deals'],
  ['tasks', 'person_id', 'contacts'],
  ['tasks', 'main_assignee_id', 'users'],
  ['notes', 'parent_id', 'notes'],
  ['interactions', 'main_contact', 'contacts'],
  ['meetings', 'deal_id', 'deals'],
  ['meetings', 'company_id', 'companies'],
  ['meetings', 'owner_id', 'users'],
  ['recordings', 'meeting_id', 'meetings'],
  ['recordings', 'owner_id', 'users'],
  ['bookings', 'meeting_id', 'meetings'],
  ['bookings', 'owner_id', 'users'],
];

const LINK_TABLES: { table: string; parent: [string, string]; child: string; columns: Columns }[] = [
  {
    table: 'deal_contacts',
    parent: ['deal_id', 'deals'],
    child: 'contact_id',
    columns: { supervisor: 'text' },
  },
  { table: 'deal_companies', parent: ['deal_id', 'deals'], child: 'company_id', columns: {} },
  {
    table: 'note_records',
    parent: ['note_id', 'notes'],
    child: 'record_id',
    columns: { record_type: 'text' },
  },
  { table: 'segment_members', parent: ['segment_id', 'segments'], child: 'record_id', columns: {} },
];

const strict = sql`strict`;

export async function up(db: Db): Promise<void> {
  await createAccounts(db);
  await createStages(db);
  for (const [table, columns] of Object.entries(RECORD_TABLES)) await createRecordTable(db, table, columns);
  for (const link of LINK_TABLES) await createLinkTable(db, link);
  await createSideTables(db);
}

async function createAccounts(db: Db): Promise<void> {
  await db.schema
    .createTable('organizations')
    .addColumn('number', 'integer', (c) => c.primaryKey().notNull())
    .addColumn('id', 'text', (c) => c.notNull().unique())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('name_key', 'text', (c) => c.notNull().unique())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute();
  await db.schema
    .createTable('org_clocks')
    .addColumn('org_id', 'integer', (c) => c.primaryKey().notNull().references('organizations.number'))
    .addColumn('last_instant', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute();
  await keyed(db, 'users')
    .addColumn('email', 'text', (c) => c.notNull())
    .addColumn('email_key', 'text', (c) => c.notNull())
    .addColumn('name', 'text')
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addUniqueConstraint('users_email', ['org_id', 'email_key'])
    .execute();
  await keyed(db, 'api_keys')
    .addColumn('api', 'text', (c) => c.notNull())
    .addColumn('prefix', 'text', (c) => c.notNull())
    .addColumn('name', 'text')
    .addColumn('scopes', 'text', (c) => c.notNull())
    .addColumn('access', 'text', (c) => c.notNull())
    .addColumn('user_id', 'text')
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('expires_at', 'integer')
    .addColumn('revoked_at', 'integer')
    .addColumn('last_used_at', 'integer')
    .execute();
  await db.schema
    .createTable('api_key_secrets')
    .addColumn('org_id', 'integer', (c) => c.notNull())
    .addColumn('key_id', 'text', (c) => c.notNull())
    .addColumn('hash', 'text', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('expires_at', 'integer')
    .addPrimaryKeyConstraint('api_key_secrets_key', ['org_id', 'key_id', 'hash'])
    .addUniqueConstraint('api_key_secrets_hash', ['hash'])
    .addForeignKeyConstraint('api_key_secrets_of', ['org_id', 'key_id'], 'api_keys', ['org_id', 'id'])
    .modifyEnd(strict)
    .execute();
  await db.schema
    .createTable('idempotency_keys')
    .addColumn('org_id', 'integer', (c) => c.notNull())
    .addColumn('principal', 'text', (c) => c.notNull())
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('fingerprint', 'text', (c) => c.notNull())
    .addColumn('status', 'integer', (c) => c.notNull())
    .addColumn('location', 'text')
    .addColumn('body', 'text', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('idempotency_keys_key', ['org_id', 'principal', 'key'])
    .modifyEnd(strict)
    .execute();
  await db.schema
    .createIndex('idempotency_keys_age')
    .on('idempotency_keys')
    .columns(['created_at'])
    .execute();
  await db.schema
    .createTable('settings')
    .addColumn('name', 'text', (c) => c.primaryKey().notNull())
    .addColumn('value', 'text', (c) => c.notNull())
    .modifyEnd(strict)
    .execute();
}

async function createStages(db: Db): Promise<void> {
  await keyed(db, 'pipeline_stages')
    .addColumn('pipeline_id', 'text', (c) => c.notNull())
    .addColumn('position', 'integer', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('probability', 'real')
    .execute();
  await db.schema
    .createIndex('pipeline_stages_order')
    .on('pipeline_stages')
    .columns(['org_id', 'pipeline_id', 'position'])
    .execute();
}

async function createRecordTable(db: Db, table: string, columns: Columns): Promise<void> {
  let builder = keyed(db, table)
    .addColumn('created_by', 'text', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('updated_at', 'integer', (c) => c.notNull());
  for (const [name, type] of Object.entries(columns)) builder = builder.addColumn(name, type);
  for (const [from, column, target] of FOREIGN_KEYS) {
    if (from !== table) continue;
    builder = builder.addForeignKeyConstraint(`${table}_${column}_fk`, ['org_id', column], target, [
      'org_id',
      'id',
    ]);
  }
  await builder.execute();
  for (const order of ['created_at', 'updated_at']) {
    await db.schema.createIndex(`${table}_${order}`).on(table).columns(['org_id', order, 'id']).execute();
  }
  for (const column of FILTERED[table] ?? []) {
    await createFilterIndex(db, `${table}_${column}`, table, [column, 'created_at']);
    if (RANGES.includes(column)) continue;
    await createFilterIndex(db, `${table}_${column}_updated_at`, table, [column, 'updated_at']);
  }
  for (const [where, column] of UNIQUE) {
    if (where !== table) continue;
    const index = db.schema.createIndex(`${table}_${column}_unique`).on(table).columns(['org_id', column]);
    await index.unique().execute();
  }
}

// Most records leave most of these columns empty, and no filter looks for what is empty.
async function createFilterIndex(
  db: Db,
  name: string,
  table: string,
  [column, order]: [string, string],
): Promise<void> {
  const index = db.schema.createIndex(name).on(table).columns(['org_id', column, order, 'id']);
  await index.where(column, 'is not', null).execute();
}

async function createLinkTable(db: Db, link: (typeof LINK_TABLES)[number]): Promise<void> {
  const { table, parent, child, columns } = link;
  const [parentColumn, parentTable] = parent;
  let builder = db.schema
    .createTable(table)
    .addColumn('org_id', 'integer', (c) => c.notNull())
    .addColumn(parentColumn, 'text', (c) => c.notNull())
    .addColumn(child, 'text', (c) => c.notNull())
    .addColumn('link_id', 'text', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull());
  for (const [name, type] of Object.entries(columns)) builder = builder.addColumn(name, type);
  await builder
    .addPrimaryKeyConstraint(`${table}_key`, ['org_id', parentColumn, child])
    .addForeignKeyConstraint(`${table}_parent`, ['org_id', parentColumn], parentTable, ['org_id', 'id'])
    .modifyEnd(strict)
    .execute();
  await db.schema
    .createIndex(`${table}_newest`)
    .on(table)
    .columns(['org_id', parentColumn, 'link_id'])
    .execute();
  for (const column of [child, ...Object.keys(columns).filter((name) => name === 'supervisor')]) {
    const keys = ['org_id', column, parentColumn];
    await db.schema.createIndex(`${table}_${column}`).on(table).columns(keys).execute();
  }
}

async function createSideTables(db: Db): Promise<void> {
  await db.schema
    .createTable('contact_emails')
    .addColumn('org_id', 'integer', (c) => c.notNull())
    .addColumn('email_key', 'text', (c) => c.notNull())
    .addColumn('contact_id', 'text', (c) => c.notNull())
    .addColumn('is_primary', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('contact_emails_key', ['org_id', 'email_key'])
    .addForeignKeyConstraint('contact_emails_of', ['org_id', 'contact_id'], 'contacts', ['org_id', 'id'])
    .modifyEnd(strict)
    .execute();
  await db.schema
    .createIndex('contact_emails_contact')
    .on('contact_emails')
    .columns(['org_id', 'contact_id'])
    .execute();
  for (const [table, child, target] of [
    ['interaction_contacts', 'contact_id', 'contacts'],
    ['interaction_companies', 'company_id', 'companies'],
  ] as const) {
    await db.schema
      .createTable(table)
      .addColumn('org_id', 'integer', (c) => c.notNull())
      .addColumn('interaction_id', 'text', (c) => c.notNull())
      .addColumn(child, 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint(`${table}_key`, ['org_id', 'interaction_id', child])
      .addForeignKeyConstraint(`${table}_child`, ['org_id', child], target, ['org_id', 'id'])
      .modifyEnd(strict)
      .execute();
    const keys = ['org_id', child, 'interaction_id'];
    await db.schema.createIndex(`${table}_${child}`).on(table).columns(keys).execute();
  }
  // How duplicates are found: by where they come from, or by what they say.
  for (const [name, columns] of [
    ['interactions_primary_id', ['org_id', 'primary_id', 'type']],
    ['interactions_main_contact', ['org_id', 'main_contact', 'interaction_date']],
  ] as const) {
    await db.schema
      .createIndex(name)
      .on('interactions')
      .columns([...columns])
      .where(columns[1], 'is not', null)
      .execute();
  }
  await db.schema
    .createTable('recording_transcripts')
    .addColumn('org_id', 'integer', (c) => c.notNull())
    .addColumn('recording_id', 'text', (c) => c.notNull())
    .addColumn('language', 'text')
    .addColumn('segments', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('recording_transcripts_key', ['org_id', 'recording_id'])
    .addForeignKeyConstraint('recording_transcripts_of', ['org_id', 'recording_id'], 'recordings', [
      'org_id',
      'id',
    ])
    .modifyEnd(strict)
    .execute();
}

function keyed(db: Db, table: string): CreateTableBuilder<string, string> {
  return db.schema
    .createTable(table)
    .addColumn('org_id', 'integer', (c) => c.notNull().references('organizations.number'))
    .addColumn('id', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint(`${table}_key`, ['org_id', 'id'])
    .modifyEnd(strict);
}
