// The contacts of the bare server on PostgreSQL: one table with two indexes, and a prepared statement for each thing.
import type { SQL } from 'bun';
import { type ListQuestion, type Page, pageOf } from './answers.ts';
import { NO_CURSOR } from './contacts.ts';
import { COLUMNS } from './database.ts';
import { type Input, newRow, type Row, type Shown, shown, stored } from './record.ts';

/** The schema in which the bare server has its tables, beside those of crm. */
export const SCHEMA = 'bare';

// A 64-bit integer would come as text.
const FLAG = 'keep_in_touch';
const SHOWN = COLUMNS.join(', ');
const COPIED = COLUMNS.map((name) => (name === FLAG ? `${name}::integer` : name)).join(', ');

/** Copies contacts and keys from the tables of crm in the same database. */
export const COPY = `
  create schema ${SCHEMA};
  create table contacts as select ${COPIED} from public.contacts order by id;
  alter table contacts add primary key (id);
  create unique index contacts_email on contacts (email);
  create index contacts_phone on contacts (phone);
  create table api_key_secrets as select hash from public.api_key_secrets;
  alter table api_key_secrets add primary key (hash);`;

/** The id of the key that is there. */
export const KEY_ID = 'select id from public.api_keys';

const IS_KNOWN = 'select 1 from api_key_secrets where hash = $1';
const BY_ID = `select ${SHOWN} from contacts where id = $1`;
const INSERT = `insert into contacts select * from json_populate_recordset(null::contacts, $1::text::json)`;
const page = (where: string, limit: string) =>
  `select ${SHOWN} from contacts where ${where} order by id desc limit ${limit}`;
const ALL = page('id < $1', '$2');
const FILTERS: Readonly<Record<string, string>> = {
  email: page('email = $1 and id < $2', '$3'),
  phone: page('phone = $1 and id < $2', '$3'),
};

interface Waiting {
  rows: readonly Row[];
  resolve: () => void;
  reject: (error: unknown) => void;
}

export class PostgresContacts {
  readonly #db: SQL;
  readonly #createdBy: string;
  #waiting: Waiting[] = [];
  #isInserting = false;

  constructor(db: SQL, createdBy: string) {
    this.#db = db;
    this.#createdBy = createdBy;
  }

  async isKnown(hash: string): Promise<boolean> {
    return (await this.#db.unsafe(IS_KNOWN, [hash])).length > 0;
  }

  async get(id: string): Promise<Shown | undefined> {
    const [row]: Row[] = await this.#db.unsafe(BY_ID, [id]);
    return row && shown(row);
  }

  /** The newest first, of all or of those that a filter finds; undefined if there is no such filter. */
  async list({ filter, value, cursor, limit }: ListQuestion): Promise<Page | undefined> {
    const after = cursor ?? NO_CURSOR;
    const text = filter === '' ? ALL : FILTERS[filter];
    if (text === undefined) return undefined;
    const values = filter === '' ? [after, limit + 1] : [value, after, limit + 1];
    const rows: Row[] = await this.#db.unsafe(text, values);
    return pageOf([...rows], limit);
  }

  async create(inputs: readonly Input[]): Promise<Shown[]> {
    const now = Date.now();
    const rows = inputs.map((input) => newRow(input, Bun.randomUUIDv7('hex', now), this.#createdBy, now));
    await this.#insert(rows);
    return rows.map(shown);
  }

  async update(id: string, input: Input): Promise<Shown | undefined> {
    const changes = Object.entries({ ...stored(input), updated_at: Date.now() });
    const assignments = changes.map(([name], index) => `${name} = $${index + 2}`).join(', ');
    const text = `update contacts set ${assignments} where id = $1 returning ${SHOWN}`;
    const [row]: Row[] = await this.#db.unsafe(text, [id, ...changes.map(([, value]) => value)]);
    return row && shown(row);
  }

  /** What comes while a statement is under way goes into the next one, together; if that fails, all of it does. */
  #insert(rows: readonly Row[]): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ rows, resolve, reject });
    if (!this.#isInserting) this.#flush();
    return promise;
  }

  async #flush(): Promise<void> {
    this.#isInserting = true;
    // Those that are here already join the first one.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#db.unsafe(INSERT, [JSON.stringify(group.flatMap(({ rows }) => rows))]);
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#isInserting = false;
  }
}
