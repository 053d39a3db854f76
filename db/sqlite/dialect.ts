// SQLite's dialect for cached statements: hides parameter values from its planner.
import { type QueryCompiler, SqliteQueryCompiler } from 'kysely';
import { BunSqliteDialect } from 'kysely-bun-sqlite';

/**
 * The dialect of a connection. SQLite prepares a statement again for each new value of a parameter that could affect its
 * plan, which takes longer than most statements run. The value of `+?` does not affect the plan.
 */
export class PreparedDialect extends BunSqliteDialect {
  override createQueryCompiler(): QueryCompiler {
    return new SteadyCompiler();
  }
}

class SteadyCompiler extends SqliteQueryCompiler {
  protected override getCurrentParameterPlaceholder(): string {
    return '+?';
  }
}
