// Frequent queries, built and compiled by Kysely once and then only run with parameters.
import { type Compilable, type RawBuilder, sql } from 'kysely';
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

/** A query written as SQL, for `statement`. */
export function written<R>(db: Db, query: RawBuilder<R>): Compilable<R> {
  return { compile: () => query.compile(db) };
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

/** Looks up rows of an organization by one or more values. */
export type Lookup<R> = (db: Db, orgNumber: number, values: readonly string[]) => Eventually<R[]>;

/**
 * Makes a function that looks up rows by values; a single value has a statement of its own, which takes less time.
 * @param build builds the query, with the parameter `org`; `isGiven` is the condition that a column has one of the values
 */
export function lookup<R>(
  build: (
    db: Db,
    param: Param,
    isGiven: (column: RawBuilder<string>) => RawBuilder<boolean>,
  ) => Compilable<R>,
): Lookup<R> {
  const one = statement<R>((db, param) =>
    build(db, param, (column) => sql<boolean>`${column} = ${param('value')}`),
  );
  const several = statement<R>((db, param) =>
    build(db, param, (column) => db.engine.isAmong(column, param('values'))),
  );
  return byValues(one, several);
}

/**
 * Makes a function that looks up the first rows by values, each value by itself.
 * @param query the query, as that of `lookup`, in the order of an index that narrows it down
 */
export function lookupFirst<R>(
  rowsMax: number,
  query: (param: Param, isGiven: (column: RawBuilder<string>) => RawBuilder<boolean>) => RawBuilder<R>,
): Lookup<R> {
  const one = statement<R>((db, param) => {
    const ofOne = query(param, (column) => sql<boolean>`${column} = ${param('value')}`);
    return written(db, sql<R>`${ofOne} limit ${sql.lit(rowsMax)}`);
  });
  const several = statement<R>((db, param) =>
    written(
      db,
      db.engine.firstRows(param('values'), rowsMax, (isGiven) => query(param, isGiven)),
    ),
  );
  return byValues(one, several);
}

function byValues<R>(one: Statement<R>, several: Statement<R>): Lookup<R> {
  return (db, orgNumber, values) => {
    const [value] = values;
    if (value === undefined) return [];
    if (values.length === 1) return one(db, { org: orgNumber, value });
    return several(db, { org: orgNumber, values: JSON.stringify(values) });
  };
}
