// Thousands of rows in every table of a database on PostgreSQL, with the values that the questions of the tests ask for.
import { unchanged } from '../../db/model/fields.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { CHANGEABLE } from './contract.ts';
import { instantOf } from './table-queries.ts';

/** How many rows every table has of each organization. */
export const ROWS = 2_000;
/** Of which so many share a value of a column that many may have. */
export const MANY = 200;
// And so many one that few have.
const FEW = 10;

const ENCODED = new Set(
  RESOURCES.flatMap(({ fields }) =>
    Object.entries(fields).flatMap(([name, { column, decode }]) =>
      column === 'text' && decode !== unchanged ? [name] : [],
    ),
  ),
);

/** Runs a statement and gives its rows. */
export type Run = (text: string) => Promise<object[]>;

interface Column {
  table_name: string;
  column_name: string;
  data_type: string;
  /** Whether an index has it in the order of updated_at. */
  has_many: boolean;
  /** Whether it is in a unique index. */
  is_unique: boolean;
}

// The definitions of indexes are made once: for each column it would take seconds.
const COLUMNS = `
  with indexes as materialized (select tablename, indexdef from pg_indexes where schemaname = 'public')
  select c.table_name, c.column_name, c.data_type,
    exists (select from indexes i where i.tablename = c.table_name
      and i.indexdef like '%(org_id, ' || c.column_name || ', updated_at, id)%') as has_many,
    exists (select from indexes i where i.tablename = c.table_name
      and i.indexdef like 'CREATE UNIQUE%' and i.indexdef ~ ('\\m' || c.column_name || '\\M')) as is_unique
  from information_schema.columns c
  join information_schema.tables t using (table_schema, table_name)
  where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and exists (
    select from information_schema.columns o
    where o.table_schema = 'public' and o.table_name = c.table_name and o.column_name = 'org_id')
    and c.table_name not in ('org_clocks', 'api_key_secrets')
  order by c.table_name, c.ordinal_position`;

/** Fills every table that has rows of organizations with some of one, and tells which; references lead nowhere. */
export async function fillTables(run: Run, orgNumber: number): Promise<string[]> {
  const columns = (await run(COLUMNS)) as Column[];
  const tables = Map.groupBy(columns, ({ table_name }) => table_name);
  for (const [table, own] of tables) {
    const names = own.map(({ column_name }) => column_name);
    const ties = names.includes('id') ? [] : names.filter((name) => /(?<!^org|^external)_id$/.test(name));
    const values = own.map((column) => valueIn(column, orgNumber, ties)).join(', ');
    const into = `insert into "${table}" (${names.join(', ')})`;
    await run(`${into} select ${values} from generate_series(1, ${ROWS}) as n`);
  }
  return [...tables.keys()];
}

// The value of a column in row n, in SQL.
function valueIn(
  { column_name: name, data_type, has_many, is_unique }: Column,
  orgNumber: number,
  ties: readonly string[],
): string {
  if (name === 'org_id') return String(orgNumber);
  if (name === 'id') return ID;
  // In another order than that of creation.
  if (name === 'updated_at') return `${instantOf(0)} + n * 7919 % ${ROWS}`;
  // The body of a stored answer, where it is not in `body`; other bytes are IDs.
  if (data_type === 'bytea') return name === 'packed' ? 'null' : `decode(lpad(to_hex(n), 32, '0'), 'hex')`;
  if (data_type === 'bigint' && has_many) return `(n % ${ROWS / MANY} = 1)::int`;
  if (data_type !== 'text') return `${instantOf(0)} + n`;
  if (name === 'segments' || name === 'entries') return `'[]'`;
  if (name === 'resource') return `(array['${CHANGEABLE.join("','")}'])[1 + n % ${CHANGEABLE.length}]`;
  if (name === 'source') return `'source1'`;
  if (ENCODED.has(name) || (name.endsWith('_key') && name !== 'email_key')) return 'null';
  const shared = `'${name}' || n % ${ROWS / (has_many ? MANY : FEW)}`;
  // What ties records together: in one half of the rows the first has many of the second, in the other it is one of many.
  const place = ties.indexOf(name);
  if (place >= 0) return ties.length === 1 ? ID : `case n % 2 when ${place} then ${ID} else ${shared} end`;
  return is_unique ? `'${name}' || n` : shared;
}

// As idOf has it.
const DIGITS = `lpad(to_hex(${instantOf(0)} + n), 12, '0')`;
const ID = `substr(${DIGITS}, 1, 8) || '-' || substr(${DIGITS}, 9) || '-0000-0000-000000000000'`;
