// SQLite's dialect for cached statements: hides parameter values from its planner.
import { type QueryCompiler, SqliteQueryCompiler } from 'kysely';
// By its name, Bun takes the CommonJS module, which brings a second Kysely with it.
import { BunSqliteDialect } from 'kysely-bun-sqlite/dist/index.js';

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
