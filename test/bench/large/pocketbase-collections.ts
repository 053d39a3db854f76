// The collections of PocketBase that a developer would make for the records of crm, and where these are in its tables.

export interface Field {
  name: string;
  type: string;
  [option: string]: unknown;
}

/** A collection: its fields, the columns that it has an index on, and the query that fills it from the tables of crm. */
export interface Collection {
  fields: readonly Field[];
  indexes: readonly string[];
  /** The expressions for its fields, after its ID. */
  from: { id: string; columns: readonly string[]; table: string };
}

const texts = (...names: readonly string[]): Field[] =>
  names.map((name) => ({ name, type: 'text', max: 1e6 }));
const time = (name: string): Field => ({ name, type: 'date' });
const one = (name: string, collection: string): Field => ({
  name,
  type: 'relation',
  maxSelect: 1,
  collection,
});
// As PocketBase writes instants.
const instant = (column: string) =>
  `ifnull(strftime('%Y-%m-%d %H:%M:%fZ', ${column} / 1000.0, 'unixepoch'), '')`;
const text = (column: string) => `ifnull(${column}, '')`;
const PAIR_ID = `printf('%015d', row_number() over ())`;

const PROFILES = ['linkedin', 'twitter', 'facebook', 'instagram'];
const CONTACT_TEXTS = [
  ...['email', 'first_name', 'last_name', 'title', 'phone', 'personal_phone', 'remarks', 'whatsapp'],
  ...PROFILES,
];

/** In the order in which they refer to each other. */
export const COLLECTIONS: Readonly<Record<string, Collection>> = {
  owners: {
    fields: texts('email', 'name'),
    indexes: [],
    from: { id: 'id', columns: ['email', text('name')], table: 'users' },
  },
  companies: {
    fields: [...texts('name', 'domain'), time('created_at')],
    indexes: ['domain', 'created_at'],
    from: { id: 'id', columns: [text('name'), text('domain'), instant('created_at')], table: 'companies' },
  },
  contacts: {
    fields: [
      ...texts(...CONTACT_TEXTS),
      ...[one('company', 'companies'), one('owner', 'owners')],
      ...[
        { name: 'keep_in_touch', type: 'bool' },
        { name: 'custom', type: 'json' },
      ],
      ...[time('created_at'), time('updated_at')],
    ],
    indexes: ['email', 'phone', 'last_name', 'company', 'owner, created_at', 'created_at'],
    from: {
      id: 'id',
      columns: [
        ...CONTACT_TEXTS.map(text),
        ...[text('company_id'), text('owner_id'), 'keep_in_touch', `ifnull(custom, '{}')`],
        ...[instant('created_at'), instant('updated_at')],
      ],
      table: 'contacts',
    },
  },
  deals: {
    fields: [
      ...texts('name', 'status', 'currency'),
      { name: 'estimated_value', type: 'number' },
      ...[one('company', 'companies'), one('owner', 'owners'), time('created_at')],
    ],
    indexes: ['owner, status, currency, created_at', 'created_at', 'estimated_value', 'company'],
    from: {
      id: 'id',
      columns: [
        ...[text('name'), text('status'), text('currency'), 'ifnull(estimated_value, 0)'],
        ...[text('company_id'), text('owner_id'), instant('created_at')],
      ],
      table: 'deals',
    },
  },
  deal_contacts: {
    fields: [one('deal', 'deals'), one('contact', 'contacts'), time('created_at')],
    indexes: ['contact', 'deal'],
    from: {
      id: PAIR_ID,
      columns: ['deal_id', 'contact_id', instant('created_at')],
      table: 'deal_contacts',
    },
  },
  interactions: {
    fields: [...texts('type', 'title', 'summary'), time('interaction_date')],
    indexes: ['interaction_date'],
    from: {
      id: 'id',
      columns: [text('type'), text('title'), text('summary'), instant('interaction_date')],
      table: 'interactions',
    },
  },
  interaction_contacts: {
    fields: [one('interaction', 'interactions'), one('contact', 'contacts')],
    indexes: ['contact', 'interaction'],
    from: { id: PAIR_ID, columns: ['interaction_id', 'contact_id'], table: 'interaction_contacts' },
  },
  notes: {
    fields: [...texts('title', 'content'), time('created_at')],
    indexes: [],
    from: { id: 'id', columns: [text('title'), text('content'), instant('created_at')], table: 'notes' },
  },
  note_records: {
    fields: [one('note', 'notes'), ...texts('record')],
    indexes: ['record', 'note'],
    from: { id: PAIR_ID, columns: ['note_id', 'record_id'], table: 'note_records' },
  },
  tasks: {
    fields: [...texts('name', 'description'), one('contact', 'contacts'), time('created_at')],
    indexes: ['contact, created_at'],
    from: {
      id: 'id',
      columns: [text('name'), text('description'), text('person_id'), instant('created_at')],
      table: 'tasks',
    },
  },
};

/** IDs as crm has them, so that both are asked for the same records. */
export const ID_FIELD = {
  ...{ name: 'id', type: 'text', system: true, primaryKey: true, required: true },
  ...{ min: 15, max: 36, pattern: '^[a-z0-9-]+$', autogeneratePattern: '[a-z0-9]{15}' },
};
