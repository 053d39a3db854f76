// Contacts by prepared statements and nothing else: what a server without a framework does for each request.
import type { Database, SQLQueryBindings } from 'bun:sqlite';
import { type ListQuestion, type Page, pageOf } from './answers.ts';
import { COLUMNS, type Tables } from './database.ts';
import { type Input, newRow, type Row, type Shown, shown, stored } from './record.ts';

// What finds the contacts of a value, ?1; the two indexes of its own serve two of the filters that crm has. As in crm, the
// planner is kept from looking at values (+?): otherwise it would plan again for each.
const FILTERS: Record<Tables, (org: string) => Record<string, string>> = {
  own: () => ({ email: 'email = +?1', phone: 'phone = +?1' }),
  same: (org) => ({
    email: `id IN (SELECT contact_id FROM contact_emails WHERE org_id = ${org} AND email_key = lower(+?1))`,
    phone: `id IN (SELECT id FROM contacts WHERE org_id = ${org} AND coalesce(phone_key, phone) = +?1
      UNION SELECT id FROM contacts WHERE org_id = ${org} AND coalesce(personal_phone_key, personal_phone) = +?1)`,
    company_id: 'company_id = +?1',
    owner_id: 'owner_id = +?1',
    segment_id: `id IN (SELECT record_id FROM segment_members WHERE org_id = ${org} AND segment_id = +?1)`,
  }),
};
/** Comes after every id. */
export const NO_CURSOR = '~';

/** The contacts of a database with such tables; ids are UUIDv7, so that their order is that of the creates. */
export class Contacts {
  readonly #db: Database;
  readonly #createdBy: string;
  readonly #ofOrg: string;
  readonly #byId;
  readonly #insert;
  readonly #insertEmail;
  readonly #pages;

  /** @param org SQL of what crm's rows have for `org_id`; a table of one's own has no such column */
  constructor(db: Database, tables: Tables, { org, createdBy }: { org: string; createdBy: string }) {
    this.#db = db;
    this.#createdBy = createdBy;
    this.#ofOrg = tables === 'same' ? `org_id = ${org} AND` : '';
    const columns = COLUMNS.join(', ');
    const where = `SELECT ${columns} FROM contacts WHERE ${this.#ofOrg}`;
    this.#byId = db.prepare<Row, [string]>(`${where} id = ?`);
    const values = COLUMNS.map(() => '?').join(', ');
    if (tables === 'own') this.#insert = db.prepare(`INSERT INTO contacts VALUES (${values})`);
    else {
      this.#insert = db.prepare(`INSERT INTO contacts (org_id, ${columns}) VALUES (${org}, ${values})`);
      this.#insertEmail = db.prepare(
        `INSERT INTO contact_emails (org_id, email_key, contact_id) VALUES (${org}, lower(?), ?)`,
      );
    }
    const page = (filter: string) =>
      db.prepare<Row, SQLQueryBindings[]>(`${where} ${filter} id < +?2 ORDER BY id DESC LIMIT +?3`);
    const filters = Object.entries(FILTERS[tables](org));
    this.#pages = new Map([
      ['', page('')],
      ...filters.map(([name, sql]) => [name, page(`${sql} AND`)] as const),
    ]);
  }

  get(id: string): Shown | undefined {
    const row = this.#byId.get(id);
    return row === null ? undefined : shown(row);
  }

  /** The newest first, of all or of those that a filter finds; undefined if there is no such filter. */
  list({ filter, value, cursor, limit }: ListQuestion): Page | undefined {
    const rows = this.#pages.get(filter)?.all(value, cursor ?? NO_CURSOR, limit + 1);
    return rows && pageOf(rows, limit);
  }

  /** To be run in a transaction, as it may write two rows. */
  create(input: Input): Shown {
    const now = Date.now();
    const row = newRow(input, Bun.randomUUIDv7('hex', now), this.#createdBy, now);
    this.#insert.run(...Object.values(row));
    if (row.email !== null) this.#insertEmail?.run(row.email ?? '', row.id ?? '');
    return shown(row);
  }

  /** Changes columns of one table, which an address is not. */
  update(id: string, input: Input): Shown | undefined {
    const row = this.#byId.get(id);
    if (row === null) return undefined;
    const changes = { ...stored(input), updated_at: Date.now() };
    const assignments = Object.keys(changes).map((name) => `${name} = ?`);
    const update = this.#db.query(
      `UPDATE contacts SET ${assignments.join(', ')} WHERE ${this.#ofOrg} id = ?`,
    );
    update.run(...Object.values(changes), id);
    return shown(Object.assign(row, changes));
  }
}
