// What the tables need from a database engine: prepared statements.
import type { Compilable, CompiledQuery, Expression, QueryExecutorProvider, RawBuilder } from 'kysely';
import type { ColumnValue } from '../model/fields.ts';

/** A result that one engine has at once and another later; callers await it in both cases. */
export type Eventually<T> = T | Promise<T>;

/** Continues with a result: at once if it is available, because awaiting it would cost a turn. */
export function andThen<T, R>(answer: Eventually<T>, next: (answer: T) => Eventually<R>): Eventually<R> {
  return answer instanceof Promise ? answer.then(next) : next(answer);
}

/** All of several results: at once if all are available. */
export function allOf<T extends readonly unknown[]>(
  answers: readonly [...{ [K in keyof T]: Eventually<T[K]> }],
): Eventually<T> {
  if (!answers.some((answer) => answer instanceof Promise)) return answers as unknown as T;
  return Promise.all(answers) as unknown as Promise<T>;
}

/** Takes steps one after another, each at once if the one before has its result. */
export function inTurn(steps: readonly (() => Eventually<unknown>)[]): Eventually<void> {
  for (let index = 0; index < steps.length; index++) {
    const taken = steps[index]?.();
    if (taken instanceof Promise) return taken.then(() => inTurn(steps.slice(index + 1)));
  }
}

/** The values of a column in any table; columns of records contain no bytes. */
export type StoredValue = ColumnValue | Uint8Array;

/** Whether a row is wanted: the first unwanted row ends the result. */
export type TakeWhile<R> = (row: R) => boolean;

/**
 * A query that is ready to run with the values of its parameters in order. With `takes`, the engine reads no further than
 * the first unwanted row.
 */
export type PreparedQuery<R> = (values: readonly StoredValue[], takes?: TakeWhile<R>) => Eventually<R[]>;

/** The rows before the first unwanted one. */
export function takeWhile<R>(rows: Iterable<R>, takes: TakeWhile<R>): R[] {
  const wanted: R[] = [];
  for (const row of rows) {
    if (!takes(row)) break;
    wanted.push(row);
  }
  return wanted;
}

/** How much of the rows of a query is wanted, by the size of their texts. */
export interface TextLimit {
  /** Its columns, in order. */
  columns: readonly string[];
  /** The columns that can be long. */
  texts: readonly string[];
  /** Bytes of such texts after which no more rows are wanted. */
  bytesMax: number;
}

/** Two columns that together identify a row of a table. */
export interface PairColumns {
  table: string;
  first: string;
  second: string;
}

/** What runs statements that only read. */
export interface Engine {
  /** Whether it has its answers at once, so that many short queries take no longer than a long one. */
  readonly answersAtOnce: boolean;
  /** A value that the planner does not look at: it would plan a statement again for values that it takes for rare, or absent. */
  opaque<T>(value: RawBuilder<T>, type: 'text' | 'integer'): RawBuilder<T>;
  /** Text that differs between any two versions of a row; null where no results are kept. */
  readonly rowVersion: RawBuilder<string | null>;
  /** Prepares a query, which stays prepared as long as the engine. */
  bind<R>(query: CompiledQuery<R>): PreparedQuery<R>;
  /**
   * The query limited to the wanted rows, plus one that shows that there are more; the query itself if the engine reads rows
   * one by one as they are needed.
   */
  limitText<R>(
    db: QueryExecutorProvider,
    query: Compilable<R> & Expression<unknown>,
    reach: TextLimit,
  ): Compilable<R>;
  /** Whether a value is in a JSON array of texts, passed as one parameter, so the statement does not depend on its length. */
  isAmong(value: RawBuilder<string>, list: never): RawBuilder<boolean>;
  /** The same for whole numbers: a JSON array of them, as texts. */
  isAmongNumbers(value: RawBuilder<number>, list: never): RawBuilder<boolean>;
  /**
   * Whether a row's two columns, which identify it within its organization, are among a JSON array of pairs of texts, passed
   * as one parameter; rows are looked up one by one.
   */
  isPairAmong(columns: PairColumns, orgNumber: never, list: never): RawBuilder<boolean>;
  /** The bytes of a UUID. */
  uuidBytes(text: RawBuilder<unknown>): RawBuilder<Uint8Array>;
  /** A JSON array of texts, passed as one parameter, as rows with the column `text`. */
  texts(list: never): RawBuilder<{ text: string }>;
  /** A JSON array of pairs of bytes, in hexadecimal, passed as one parameter, as rows with the columns `first` and `second`. */
  bytePairs(list: never): RawBuilder<{ first: Uint8Array; second: Uint8Array }>;
  /**
   * The first rows of a query for the texts of a JSON array, passed as one parameter, so that every plan looks up one text
   * after another.
   * @param query the query for a text; `isText` is the condition that a column has it
   */
  firstRows<R>(
    list: never,
    rowsMax: number,
    query: (isText: (column: RawBuilder<string>) => RawBuilder<boolean>) => RawBuilder<R>,
  ): RawBuilder<R>;
  /** The clock of the database server, in Unix milliseconds; in a transaction, that of its start. */
  now(): RawBuilder<number>;
  /** Whether a value is in the result of a query; values are looked up one by one. */
  isIn(value: RawBuilder<unknown>, found: Expression<unknown>): RawBuilder<boolean>;
}
