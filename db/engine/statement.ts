// Hot queries, built and compiled by Kysely once and then only given their parameters.
import type { Compilable } from 'kysely';
import type { Engine, Eventually, StoredValue, Takes } from './engine.ts';
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

/** Runs a query with its arguments, null for those left out, as `Bound` has it; an engine that can answers at once. */
export type Statement<R> = (
  db: Db,
  args: Readonly<Record<string, StoredValue>>,
  takes?: Takes<R>,
) => Eventually<R[]>;

type Build<R> = (db: Db, param: Param) => Compilable<R>;
type Run<R> = (args: Readonly<Record<string, StoredValue>>, takes?: Takes<R>) => Eventually<R[]>;

/**
 * Makes a function that runs a query, which is compiled and prepared at its first use with each connection.
 * @param build builds the query, `param(name)` standing for each argument
 */
export function statement<R>(build: Build<R>): Statement<R> {
  const bound = new WeakMap<Engine, Run<R>>();
  return (db, args, takes) => {
    let run = bound.get(db.engine);
    if (run === undefined) {
      run = bind(db, build);
      bound.set(db.engine, run);
    }
    return run(args, takes);
  };
}

function bind<R>(db: Db, build: Build<R>): Run<R> {
  const query = build(db, param).compile();
  const run = db.engine.bind(query);
  const names = query.parameters.map((value) => (value instanceof Placeholder ? value.name : null));
  const constants = query.parameters.map((value) => (value instanceof Placeholder ? null : value));
  return (args, takes) => {
    const values = new Array<StoredValue>(names.length);
    for (let index = 0; index < names.length; index++) {
      const name = names[index] ?? null;
      values[index] = name === null ? (constants[index] as StoredValue) : (args[name] ?? null);
    }
    return run(values, takes);
  };
}
