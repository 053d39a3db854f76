// SQLite's dialect as statements that are kept want it: a parameter tells its planner nothing.
import { type QueryCompiler, SqliteQueryCompiler } from 'kysely';
import { BunSqliteDialect } from 'kysely-bun-sqlite';

/**
 * The dialect of a connection. A statement whose plan could depend on the value of a parameter is prepared anew each time
 * that it gets another one, which takes longer than most of them run. Of `+?` SQLite knows that as little as we do.
 */
export class SteadyDialect extends BunSqliteDialect {
  override createQueryCompiler(): QueryCompiler {
    return new SteadyCompiler();
  }
}

class SteadyCompiler extends SqliteQueryCompiler {
  protected override getCurrentParameterPlaceholder(): string {
    return '+?';
  }
}
