// PostgreSQL for Kysely: builds the queries, runs rare ones, and maps the column types of migrations.
import {
  type CompiledQuery,
  type CreateTableNode,
  type DataTypeNode,
  type Dialect,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';

/** Runs a statement; the rows include the number of written rows. */
export type RunText = (
  text: string,
  values: readonly unknown[],
) => Promise<Record<string, unknown>[] & { count: number }>;

// SQLite's integers and reals have 64 bits, and it sorts text by bytes.
const TYPES: Record<string, string> = {
  integer: 'bigint',
  real: 'double precision',
  text: 'text collate "C"',
};

class TypeTranslator extends PostgresQueryCompiler {
  protected override visitDataType({ dataType }: DataTypeNode): void {
    this.append(TYPES[dataType] ?? dataType);
  }

  // STRICT and WITHOUT ROWID exist only in SQLite.
  protected override visitCreateTable({ endModifiers: _, ...node }: CreateTableNode): void {
    super.visitCreateTable(node);
  }
}

export class PostgresDialect implements Dialect {
  readonly #run: RunText;

  constructor(run: RunText) {
    this.#run = run;
  }

  createDriver(): Driver {
    const run = this.#run;
    const refuse = () => Promise.reject(new Error('only the write queue begins transactions'));
    const connection = {
      async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
        const rows = await run(sql, parameters);
        return { rows: rows as unknown as R[], numAffectedRows: BigInt(rows.count) };
      },
      streamQuery: () => {
        throw new Error('streaming queries is not supported');
      },
    };
    return {
      init: async () => undefined,
      acquireConnection: async () => connection,
      beginTransaction: refuse,
      commitTransaction: refuse,
      rollbackTransaction: refuse,
      releaseConnection: async () => undefined,
      destroy: async () => undefined,
    };
  }

  createQueryCompiler = () => new TypeTranslator();
  createAdapter = () => new PostgresAdapter();
  createIntrospector = (db: Kysely<unknown>) => new PostgresIntrospector(db);
}
