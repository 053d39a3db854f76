// The tables of the bare servers: one with two indexes, or all that crm has; either way with the contacts that crm has.
import { Database } from 'bun:sqlite';
import { contacts } from '../../../db/model/resources/contacts.ts';

/** One table made by hand, or the tables and indexes of crm. */
export type Tables = 'own' | 'same';

/** The columns of a contact in the order of an answer. */
export const COLUMNS: readonly string[] = Object.entries(contacts.fields)
  .filter(([, { column }]) => column !== null)
  .map(([name]) => name);

const PRAGMAS = ['journal_mode = WAL', 'synchronous = FULL', 'cache_size = -65536', 'temp_store = MEMORY'];

export interface Opened {
  db: Database;
  owner: Owner;
}

/** Whose the contacts are. */
export interface Owner {
  /** What crm's rows have for `org_id`, as SQL. */
  org: string;
  /** The id of the key. */
  createdBy: string;
}

/** Opens a copy of a database that crm made; with tables of its own a new file, which its contacts are copied to. */
export function openDatabase(path: string, tables: Tables): Opened {
  const db = new Database(tables === 'own' ? `${path}-own` : path, { create: true });
  for (const pragma of PRAGMAS) db.run(`PRAGMA ${pragma}`);
  if (tables === 'own') db.run(`ATTACH '${path}' AS crm`);
  const owner = db.query<Owner, []>('SELECT quote(org_id) AS org, id AS createdBy FROM api_keys').get();
  if (owner === null) throw new Error('the database has no key');
  if (tables === 'own') copyContacts(db);
  else db.run('PRAGMA foreign_keys = ON');
  return { db, owner };
}

function copyContacts(db: Database): void {
  db.run(`CREATE TABLE contacts (${COLUMNS.map(definition).join(', ')}) STRICT, WITHOUT ROWID`);
  db.run(`INSERT INTO contacts SELECT ${COLUMNS.join(', ')} FROM crm.contacts ORDER BY id`);
  db.run('CREATE UNIQUE INDEX contacts_email ON contacts (email)');
  db.run('CREATE INDEX contacts_phone ON contacts (phone)');
  db.run('CREATE TABLE api_key_secrets AS SELECT hash FROM crm.api_key_secrets');
  db.run('DETACH crm');
}

function definition(name: string): string {
  return name === 'id' ? 'id text PRIMARY KEY' : `${name} ${contacts.fields[name]?.column}`;
}
