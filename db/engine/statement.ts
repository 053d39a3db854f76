// Frequent queries, built and compiled by Kysely once and then only run with parameters.
import type { Compilable } from 'kysely';
import { memoize } from '../cache.ts';
import type { Eventually, StoredValue, TakeWhile } from './engine.ts';
import type { Db } from './schema.ts';

class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** Stands for the argument with that name in a query; `never` fits any type that the query expects. */
export type Param = (name: string) => never;

const param: Param = (name) => new Placeholder(name) as never;

/** Runs a query with its arguments (null if left out), as `PreparedQuery` does; an engine that can returns at once. */
export type Statement<R> = (
  db: Db,
  args: Readonly<Record<string, StoredValue>>,
  takes?: TakeWhile<R>,
) => Eventually<R[]>;

type Build<R> = (db: Db, param: Param) => Compilable<R>;
type Run<R> = (args: Readonly<Record<string, StoredValue>>, takes?: TakeWhile<R>) => Eventually<R[]>;

/**
 * Makes a function that runs a query, which each connection compiles and prepares on first use.
 * @param build builds the query; `param(name)` stands for each argument
 */
export function statement<R>(build: Build<R>): Statement<R> {
  const runOn = memoize((db: Db) => bind(db, build));
  return (db, args, takes) => runOn(db)(args, takes);
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
