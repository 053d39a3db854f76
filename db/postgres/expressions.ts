// Expressions in PostgreSQL's own SQL.
import {
  type Compilable,
  CompiledQuery,
  type Expression,
  type QueryExecutorProvider,
  type RawBuilder,
  sql,
} from 'kysely';
import type { PairColumns, TextLimit } from '../engine/engine.ts';
import type { Repeats } from '../engine/transaction.ts';

/** Whether a value is in a JSON array of texts. */
export function isAmong(value: RawBuilder<string>, list: never): RawBuilder<boolean> {
  return isIn(value, sql`(select json_array_elements_text(${list}::text::json))`);
}

/** The same for whole numbers. */
export function isAmongNumbers(value: RawBuilder<number>, list: never): RawBuilder<boolean> {
  return isIn(value, sql`(select json_array_elements_text(${list}::text::json)::bigint)`);
}

/** The clock of the server, in Unix milliseconds; in a transaction, that of its start. */
export function now(): RawBuilder<number> {
  return sql<number>`floor(extract(epoch from now()) * 1000)::bigint`;
}

/** The first rows of a query for the texts in a JSON array: the planner would take some texts for most of a table. */
export function firstRows<R>(
  list: never,
  rowsMax: number,
  query: (isText: (column: RawBuilder<string>) => RawBuilder<boolean>) => RawBuilder<R>,
): RawBuilder<R> {
  const limit = sql.lit(rowsMax);
  const found = query((column) => sql`${column} = given.text`);
  return sql`select found.* from json_array_elements_text(${list}::text::json) as given (text)
    cross join lateral (${found} limit ${limit}) as found limit ${limit}`;
}

/** Whether a row's two columns are among the pairs of texts in a JSON array: by its place, so that every plan goes to it. */
export function isPairAmong(
  { table, first, second }: PairColumns,
  orgNumber: never,
  list: never,
): RawBuilder<boolean> {
  const isPair = sql`${sql.ref(first)} = pair.first and ${sql.ref(second)} = pair.second`;
  const place = sql`(select ctid from ${sql.table(table)} where org_id = ${orgNumber} and ${isPair})`;
  const pairs = sql`(select pair ->> 0 as first, pair ->> 1 as second from json_array_elements(${list}::text::json) as pair)`;
  return sql<boolean>`ctid = any (array (select ${place} from ${pairs} as pair))`;
}

/** The bytes of a UUID. */
export function uuidBytes(text: RawBuilder<unknown>): RawBuilder<Uint8Array> {
  return sql`decode(replace(${text}, '-', ''), 'hex')`;
}

/** The texts of a JSON array, as rows. */
export function texts(list: never): RawBuilder<{ text: string }> {
  return sql`(select json_array_elements_text(${list}::text::json) as text)`;
}

/** The pairs of bytes of a JSON array, as rows. */
export function bytePairs(list: never): RawBuilder<{ first: Uint8Array; second: Uint8Array }> {
  const columns = sql`decode(pair ->> 0, 'hex') as first, decode(pair ->> 1, 'hex') as second`;
  return sql`(select ${columns} from json_array_elements(${list}::text::json) as pair)`;
}

/** Whether a value is in a result: as an array instead of rows, so that every plan can use an index. */
export function isIn(value: RawBuilder<unknown>, found: Expression<unknown>): RawBuilder<boolean> {
  return sql<boolean>`${value} = any (array ${found})`;
}

/** The query, cut after the row whose texts exceed the wanted bytes, plus one row. */
export function within<R>(
  db: QueryExecutorProvider,
  query: Compilable<R> & Expression<unknown>,
  { columns, texts, bytesMax }: TextLimit,
): Compilable<R> {
  // The length of a text stored outside its row is known without reading it.
  const bytes = sql.join(
    texts.map((name) => sql`coalesce(octet_length(${sql.ref(name)}), 0)`),
    sql` + `,
  );
  const names = sql.join(columns.map((name) => sql.ref(name)));
  const bounded = sql<R>`select ${names} from (
    select *, sum(${bytes}) over (rows between unbounded preceding and 2 preceding) as bytes_before from (${query}) as page
  ) as page where coalesce(bytes_before, 0) <= ${sql.lit(bytesMax)}`;
  return { compile: () => bounded.compile(db) };
}

/**
 * The number of the transaction that wrote a row, and when the server started. A server that takes over without the last
 * transactions, or was restored to an earlier time, gives their numbers to others.
 */
export const rowVersion = sql<string>`xmin::text || ' ' || pg_postmaster_start_time()::text`;

/** A value that is known only when the statement runs: a plan for any value is then as good as one for this value. */
export function opaque<T>(value: RawBuilder<T>, type: 'text' | 'integer'): RawBuilder<T> {
  return sql`(select ${value}::${sql.raw(type === 'text' ? 'text' : 'bigint')})`;
}

/** Inserts a JSON array of rows passed as one parameter: one parameter per value takes twice the time. */
export function insertOf(table: string, columns: readonly string[], repeats: Repeats): CompiledQuery {
  const names = columns.map((column) => `"${column}"`).join(', ');
  const rows = `json_populate_recordset(null::"${table}", $1::text::json)`;
  const insert = `insert into "${table}" (${names}) select ${names} from ${rows}`;
  if (repeats === 'fail') return CompiledQuery.raw(insert);
  if (repeats === 'are left out') return CompiledQuery.raw(`${insert} on conflict do nothing`);
  const changed = columns.filter((column) => !repeats.key.includes(column));
  const set = changed.map((column) => `"${column}" = excluded."${column}"`).join(', ');
  const key = repeats.key.map((column) => `"${column}"`).join(', ');
  return CompiledQuery.raw(`${insert} on conflict (${key}) do update set ${set}`);
}

/** Updates rows from a JSON array: a statement per row takes twice the CPU time. The array of IDs lets every plan use the key. */
export function updateOf(table: string, columns: readonly string[]): CompiledQuery {
  const set = columns.map((column) => `"${column}" = changed."${column}"`).join(', ');
  const rows = `json_populate_recordset(null::"${table}", $1::text::json)`;
  const ids = `array (select item ->> 'id' from json_array_elements($1::text::json) as item)`;
  const wanted = `"${table}"."org_id" = $2 and "${table}"."id" = any (${ids})`;
  return CompiledQuery.raw(
    `update "${table}" set ${set} from ${rows} as changed where ${wanted} and "${table}"."id" = changed."id"`,
  );
}
