// The first schema: accounts, records and related tables. Frozen: later changes are separate migrations.
import { type Kysely, PostgresAdapter, sql } from 'kysely';

type Db = Kysely<unknown>;
type ColumnType = 'text' | 'integer' | 'real';

const STRICT = sql`strict`;
// Stores rows in the order of their primary key. Expensive for long rows, as records can have: a row of more than 1,002
// bytes takes its own page of 4 KiB, which index lookups have to read for the ID.
const CLUSTERED = sql`strict, without rowid`;

/** A table of rows that belong to an organization; columns are `name` or `name:type`, text by default. */
interface Table {
  /** The primary key, after the organization. */
  key: string;
  /** Further columns that are not null. */
  required?: string;
  columns?: string;
  /** Columns that are looked up by a key: the text itself, or another column, `<name>_key`, if there is one. */
  keyed?: string;
  /** Column → table of the row whose ID it contains. */
  references?: Record<string, string>;
  /** Each index, after the organization. Partial, because most rows leave most columns empty. */
  indexes?: string[];
  unique?: string;
}

/** A table of records: `id`, `created_by` and the two timestamps are implied. */
interface RecordTable extends Omit<Table, 'key' | 'required' | 'indexes'> {
  /** Columns for filters and deletes, where many records can share a value: indexed in the order of either timestamp. */
  many?: string;
  /** Columns where few records share a value, and those searched by range: the result can be sorted. */
  few?: string;
  indexes?: string[];
}

const ACCOUNTS: Record<string, Table> = {
  users: { key: 'id', required: 'email email_key created_at:integer', columns: 'name', unique: 'email_key' },
  api_keys: {
    key: 'id',
    required: 'api prefix scopes access created_at:integer',
    columns: 'name user_id expires_at:integer revoked_at:integer last_used_at:integer',
  },
  api_key_secrets: {
    key: 'key_id hash',
    required: 'created_at:integer',
    columns: 'expires_at:integer',
    references: { key_id: 'api_keys' },
  },
  idempotency_keys: {
    key: 'principal key',
    required: 'fingerprint status:integer body created_at:integer',
    columns: 'location',
  },
};

// References between records; users are never deleted, and stages only with their pipeline.
const RECORDS: Record<string, RecordTable> = {
  companies: {
    columns:
      'domain name linkedin twitter facebook instagram crunchbase industry employee_count:integer ' +
      'estimated_revenue:real city state country owner_id custom last_interaction_at:integer',
    keyed: 'domain name',
    references: { owner_id: 'users' },
    many: 'owner_id',
    few: 'name',
    unique: 'domain',
  },
  contacts: {
    columns:
      'email alt_emails first_name last_name title phone personal_phone linkedin twitter facebook instagram ' +
      'whatsapp remarks company_id owner_id keep_in_touch:integer custom last_interaction_at:integer',
    keyed: 'phone personal_phone',
    references: { company_id: 'companies', owner_id: 'users' },
    many: 'company_id owner_id',
    few: 'phone personal_phone',
  },
  deals: {
    columns:
      'name pipeline_id stage_id status estimated_value:real currency estimated_close_date company_id ' +
      'point_of_contact_id owner_id custom stage_changed_at:integer closed_at:integer',
    references: {
      pipeline_id: 'pipelines',
      stage_id: 'pipeline_stages',
      company_id: 'companies',
      point_of_contact_id: 'contacts',
      owner_id: 'users',
    },
    many: 'pipeline_id stage_id status owner_id company_id',
    few: 'point_of_contact_id',
  },
  tasks: {
    columns:
      'name description due_date:integer done:integer company_id deal_id person_id main_assignee_id done_at:integer',
    references: {
      company_id: 'companies',
      deal_id: 'deals',
      person_id: 'contacts',
      main_assignee_id: 'users',
    },
    many: 'main_assignee_id done company_id',
    few: 'deal_id person_id due_date',
  },
  notes: {
    columns: 'title content parent_id is_archived:integer',
    references: { parent_id: 'notes' },
    many: 'created_by is_archived',
    few: 'parent_id',
  },
  segments: { columns: 'name description record_type', many: 'created_by record_type' },
  interactions: {
    columns: 'type direction title summary interaction_date:integer main_contact primary_id secondary_id',
    keyed: 'primary_id',
    references: { main_contact: 'contacts' },
    many: 'created_by type direction',
    // How duplicates are found: by their source, or by their content.
    indexes: ['primary_id type', 'main_contact interaction_date'],
  },
  meetings: {
    columns:
      'external_id title description location start_time:integer end_time:integer timezone status organizer ' +
      'attendees deal_id company_id owner_id sequence:integer',
    keyed: 'external_id',
    references: { deal_id: 'deals', company_id: 'companies', owner_id: 'users' },
    many: 'company_id owner_id',
    few: 'deal_id start_time',
    unique: 'external_id',
  },
  recordings: {
    columns:
      'external_id meeting_id title started_at:integer duration_seconds:real has_transcript:integer owner_id',
    keyed: 'external_id',
    references: { meeting_id: 'meetings', owner_id: 'users' },
    many: 'has_transcript owner_id',
    few: 'meeting_id',
    unique: 'external_id',
  },
  bookings: {
    columns:
      'external_id title description status start_time:integer end_time:integer timezone organizer attendee ' +
      'attendee_email guests cancellation_reason meeting_id owner_id',
    keyed: 'external_id attendee_email',
    references: { meeting_id: 'meetings', owner_id: 'users' },
    many: 'status owner_id',
    few: 'attendee_email meeting_id start_time',
    unique: 'external_id',
  },
};

const PIPELINES: Record<string, Table> = {
  // Pipelines have no lists by updated_at.
  pipelines: { key: 'id', required: 'created_by created_at:integer updated_at:integer', columns: 'name' },
  pipeline_stages: {
    key: 'id',
    required: 'pipeline_id position:integer name type',
    columns: 'probability:real',
    indexes: ['pipeline_id position'],
  },
};

// Tables that connect records with each other or with addresses: short rows that are entirely in their keys and indexes.
const TIES: Record<string, Table> = {
  // Found by the addresses in a contact's row: there is no index on the contact, and so no reference to it.
  contact_emails: { key: 'email_key', required: 'contact_id' },
  deal_contacts: {
    key: 'deal_id contact_id',
    required: 'created_at:integer',
    columns: 'supervisor',
    references: { deal_id: 'deals' },
    indexes: ['deal_id created_at contact_id', 'contact_id deal_id', 'supervisor deal_id'],
  },
  deal_companies: {
    key: 'deal_id company_id',
    required: 'created_at:integer',
    references: { deal_id: 'deals' },
    indexes: ['deal_id created_at company_id', 'company_id deal_id'],
  },
  note_records: {
    key: 'note_id record_id',
    required: 'created_at:integer',
    columns: 'record_type',
    references: { note_id: 'notes' },
    indexes: ['note_id created_at record_id', 'record_id note_id'],
  },
  segment_members: {
    key: 'segment_id record_id',
    required: 'created_at:integer',
    references: { segment_id: 'segments' },
    indexes: ['segment_id created_at record_id', 'record_id segment_id'],
  },
  interaction_contacts: {
    key: 'interaction_id contact_id',
    references: { contact_id: 'contacts' },
    indexes: ['contact_id interaction_id'],
  },
  interaction_companies: {
    key: 'interaction_id company_id',
    references: { company_id: 'companies' },
    indexes: ['company_id interaction_id'],
  },
};

const BELONGINGS: Record<string, Table> = {
  recording_transcripts: {
    key: 'recording_id',
    required: 'segments',
    columns: 'language',
    references: { recording_id: 'recordings' },
  },
};

export async function up(db: Db): Promise<void> {
  await createOrganizations(db);
  // With SQLite there is one server, which counts in memory.
  if (db.getExecutor().adapter instanceof PostgresAdapter) await createCounts(db);
  for (const tables of [ACCOUNTS, PIPELINES]) await createTables(db, tables);
  for (const [name, table] of Object.entries(RECORDS)) await createTable(db, name, recordTable(table));
  await createTables(db, BELONGINGS);
  await createTables(db, TIES, CLUSTERED);
  await db.schema
    .createIndex('api_key_secrets_hash')
    .unique()
    .on('api_key_secrets')
    .columns(['hash'])
    .execute();
  await db.schema
    .createIndex('idempotency_keys_age')
    .on('idempotency_keys')
    .columns(['created_at'])
    .execute();
}

async function createOrganizations(db: Db): Promise<void> {
  await db.schema
    .createTable('organizations')
    .addColumn('number', 'integer', (c) => c.primaryKey().notNull())
    .addColumn('id', 'text', (c) => c.notNull().unique())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('name_key', 'text', (c) => c.notNull().unique())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .modifyEnd(STRICT)
    .execute();
  // The last instant of each organization's writes: later writes come after it.
  await db.schema
    .createTable('org_clocks')
    .addColumn('org_id', 'integer', (c) => c.primaryKey().notNull())
    .addColumn('last_instant', 'integer', (c) => c.notNull())
    .modifyEnd(STRICT)
    .execute();
  await db.schema
    .createTable('settings')
    .addColumn('name', 'text', (c) => c.primaryKey().notNull())
    .addColumn('value', 'text', (c) => c.notNull())
    .modifyEnd(STRICT)
    .execute();
}

// Its rows change with each request: with half a page free, the next version of a row fits next to the previous one.
async function createCounts(db: Db): Promise<void> {
  await sql`
    create table minute_counts (
      name text collate "C" primary key,
      minute bigint not null,
      used bigint not null,
      by_member jsonb not null
    ) with (fillfactor = 50)`.execute(db);
}

function recordTable({ many = '', few = '', indexes = [], ...table }: RecordTable): Table {
  return {
    ...table,
    key: 'id',
    required: 'created_by created_at:integer updated_at:integer',
    // IDs follow the order of creation.
    indexes: [
      'updated_at id',
      ...words(many).flatMap((column) => [`${column} id`, `${column} updated_at id`]),
      ...words(few).map((column) => `${column} id`),
      ...indexes,
    ],
  };
}

async function createTables(db: Db, tables: Record<string, Table>, kind = STRICT): Promise<void> {
  for (const [name, table] of Object.entries(tables)) await createTable(db, name, table, kind);
}

async function createTable(db: Db, name: string, table: Table, kind = STRICT): Promise<void> {
  const key = ['org_id', ...words(table.key)];
  const optional = columnsOf(table.columns);
  const keyed = new Set(words(table.keyed ?? ''));
  const element = (column: string) =>
    keyed.has(column) ? sql`coalesce(${sql.ref(keyColumn(column))}, ${sql.ref(column)})` : sql.ref(column);
  let builder = db.schema.createTable(name).addColumn('org_id', 'integer', (c) => c.notNull());
  for (const [column, type] of columnsOf(`${table.key} ${table.required ?? ''}`))
    builder = builder.addColumn(column, type, (c) => c.notNull());
  for (const [column, type] of optional) builder = builder.addColumn(column, type);
  for (const column of keyed) builder = builder.addColumn(keyColumn(column), 'text');
  builder = builder.addPrimaryKeyConstraint(`${name}_key`, key as never[]);
  for (const [column, target] of Object.entries(table.references ?? {})) {
    const to = ['org_id', 'id'];
    builder = builder.addForeignKeyConstraint(
      `${name}_${column}_fk`,
      ['org_id', column] as never[],
      target,
      to,
    );
  }
  await builder.modifyEnd(kind).execute();
  for (const [first = '', ...rest] of (table.indexes ?? []).map(words)) {
    const named = db.schema
      .createIndex([name, first, ...rest].join('_'))
      .on(name)
      .column('org_id');
    const index = [first, ...rest].reduce((built, column) => built.expression(element(column)), named);
    await (optional.has(first) ? index.where(element(first), 'is not', null) : index).execute();
  }
  for (const column of words(table.unique ?? '')) {
    const index = db.schema.createIndex(`${name}_${column}_unique`).unique().on(name).column('org_id');
    await index.expression(element(column)).execute();
  }
}

function keyColumn(name: string): string {
  return `${name}_key`;
}

function columnsOf(text = ''): Map<string, ColumnType> {
  return new Map(
    words(text).map((word) => {
      const [name = '', type = 'text'] = word.split(':');
      return [name, type as ColumnType];
    }),
  );
}

function words(text: string): string[] {
  return text.split(' ').filter((word) => word !== '');
}
