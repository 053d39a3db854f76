// A way to PostgreSQL, one connection or several, as an engine of statements and, for what is rare, for Kysely.
import { SQL } from 'bun';
import { type CompiledQuery, Kysely, type RawBuilder, sql } from 'kysely';
import { type Bound, type Engine, noProgress } from '../engine.ts';
import type { Db, Schema } from '../schema.ts';
import { PostgresDialect } from './dialect.ts';

// PostgreSQL's number of its 64-bit integer type, which Bun gives as text.
const INT8 = 20;
const WRITES = /^\s*(?:insert|update|delete)\b/i;

/** Rows as Bun gives them. */
export type Rows = Record<string, unknown>[] & { count: number; columns: { name: string; type: number }[] };

export class PostgresConnection implements Engine {
  readonly progress = noProgress();
  readonly db: Db = Object.assign(
    new Kysely<Schema>({ dialect: new PostgresDialect((text, values) => this.run(text, values)) }),
    { engine: this },
  );
  readonly #client: SQL;

  constructor(options: SQL.Options) {
    this.#client = new SQL(options);
  }

  bind<R>({ sql: text }: CompiledQuery<R>): Bound<R> {
    return async (values) => (await this.run(text, values)) as R[];
  }

  post(command: string): void {
    // Whatever is wrong with it, the next statement is told.
    this.#client.unsafe(command).catch(() => undefined);
  }

  textsOf(list: never): RawBuilder<string> {
    return sql<string>`(select json_array_elements_text(${list}::text::json))`;
  }

  /** Runs a statement and gives its rows; integers are numbers, whatever their size. */
  async run(text: string, values: readonly unknown[] = []): Promise<Rows> {
    if (WRITES.test(text)) this.progress.writes += 1;
    try {
      const rows: Rows = await this.#client.unsafe(text, values as unknown[]);
      readIntegers(rows);
      return rows;
    } catch (error) {
      // The transaction takes no further statement; only a savepoint could bring it back.
      if (!this.progress.hasSavepoints) this.progress.isSpoiled = true;
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#client.close({ timeout: 0 });
  }
}

function readIntegers(rows: Rows): void {
  if (rows.length === 0) return;
  for (const { name, type } of rows.columns) {
    if (type !== INT8) continue;
    for (const row of rows) if (typeof row[name] === 'string') row[name] = Number(row[name]);
  }
}
