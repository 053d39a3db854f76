// Hot queries, built and compiled by Kysely once and then only given their parameters.
import type { Compilable, CompiledQuery } from 'kysely';
import type { ColumnValue } from './declare/fields.ts';
import type { Db } from './schema.ts';

class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** Stands in a query for the argument of that name; `never` fits whatever type the query wants there. */
export type Param = (name: string) => never;

const param: Param = (name) => new Placeholder(name) as never;

/**
 * Makes a function that runs a query, which is compiled at its first use with each database.
 * @param build builds the query, `param(name)` standing for each argument
 */
export function statement<R>(
  build: (db: Db, param: Param) => Compilable<R>,
): (db: Db, args: Record<string, ColumnValue>) => Promise<R[]> {
  const compiled = new WeakMap<Db, CompiledQuery>();
  return async (db, args) => {
    let query = compiled.get(db);
    if (query === undefined) {
      query = build(db, param).compile();
      compiled.set(db, query);
    }
    const bound = query.parameters.map((value) =>
      value instanceof Placeholder ? (args[value.name] ?? null) : value,
    );
    const { rows } = await db.executeQuery<R>({ ...query, parameters: bound });
    return rows;
  };
}
