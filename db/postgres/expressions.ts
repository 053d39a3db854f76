// What PostgreSQL says in words of its own.
import {
  type Compilable,
  CompiledQuery,
  type Expression,
  type QueryExecutorProvider,
  type RawBuilder,
  sql,
} from 'kysely';
import type { Reach } from '../engine/engine.ts';

/** Whether a value is one of the texts of a JSON array. */
export function isAmong(value: RawBuilder<string>, list: never): RawBuilder<boolean> {
  return isIn(value, sql`(select json_array_elements_text(${list}::text::json))`);
}

/** Whether a value is one of those found: of an array, and not of rows, as an index finds those in any plan. */
export function isIn(value: RawBuilder<string>, found: Expression<unknown>): RawBuilder<boolean> {
  return sql<boolean>`${value} = any (array ${found})`;
}

/** The query, which ends with the row after that with which its texts pass the bytes that are wanted. */
export function within<R>(
  db: QueryExecutorProvider,
  query: Compilable<R> & Expression<unknown>,
  { columns, texts, bytesMax }: Reach,
): Compilable<R> {
  // Of a text that is kept apart from its row the length is known without reading it.
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

/** Writes rows of a JSON array that is one parameter: all that bind a value each cost twice the time. */
export function insertOf(table: string, columns: readonly string[]): CompiledQuery {
  const names = columns.map((column) => `"${column}"`).join(', ');
  const rows = `json_populate_recordset(null::"${table}", $1::text::json)`;
  return CompiledQuery.raw(`insert into "${table}" (${names}) select ${names} from ${rows}`);
}
