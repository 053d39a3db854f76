// Looks into the database of a running server: what is still being filled in, and how many bytes each table takes.
import { Database } from 'bun:sqlite';
import { SQL } from 'bun';
import { isDatabaseAddress } from '../../../db/database-address.ts';

/** A table with its indexes. */
export interface TableSize {
  name: string;
  bytes: number;
}

type Row = Record<string, unknown>;

const PENDING = 'search_pending';
const SQLITE_TABLES = `select name from sqlite_schema where type = 'table'`;
const POSTGRES_TABLES = `select tablename as name from pg_tables where schemaname = 'public'`;
const SQLITE_SIZES = `
  select tbl_name as name, sum(pgsize) as bytes from dbstat join sqlite_schema using (name)
  where aggregate = true group by tbl_name`;
const POSTGRES_SIZES = `
  select relname as name, pg_total_relation_size(oid)::float8 as bytes from pg_class
  where relkind = 'r' and relnamespace = 'public'::regnamespace`;

/** A reading connection of its own. */
export class Inside implements AsyncDisposable {
  readonly #query: (text: string) => Promise<Row[]>;
  readonly #close: () => Promise<void>;
  readonly #isServer: boolean;

  constructor(address: string) {
    this.#isServer = isDatabaseAddress(address);
    if (this.#isServer) {
      const db = new SQL(address, { max: 1 });
      this.#query = (text) => db.unsafe(text);
      this.#close = () => db.close({ timeout: 0 });
    } else {
      const db = new Database(address, { readonly: true });
      // Prepared each time: nothing must hold an old state of the file.
      this.#query = async (text) => {
        using statement = db.prepare<Row, []>(text);
        return statement.all();
      };
      this.#close = async () => db.close();
    }
  }

  /** The names of the parts that are still being filled in. */
  async unfilled(): Promise<string[]> {
    const rows = await this.#query('select name from backfills order by name');
    return rows.map(({ name }) => String(name));
  }

  /** The number of writes that the search index does not have yet; 0 where there is none. */
  async unindexed(): Promise<number> {
    const tables = await this.#query(this.#isServer ? POSTGRES_TABLES : SQLITE_TABLES);
    if (!tables.some(({ name }) => name === PENDING)) return 0;
    const [row] = await this.#query(`select count(*) as waiting from ${PENDING}`);
    return Number(row?.waiting ?? 0);
  }

  /** Every table, the largest first. */
  async sizes(): Promise<TableSize[]> {
    const rows = await this.#query(this.#isServer ? POSTGRES_SIZES : SQLITE_SIZES);
    return rows
      .map(({ name, bytes }) => ({ name: String(name), bytes: Number(bytes) }))
      .toSorted((a, b) => b.bytes - a.bytes);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}
