// What the tables ask of a database engine: statements that are prepared once, and a transaction whose parts can fail.
import type { Compilable, CompiledQuery, Expression, QueryExecutorProvider, RawBuilder } from 'kysely';
import type { ColumnValue } from '../model/fields.ts';

/** An answer that one engine has at once and another later; whoever wants it awaits either. */
export type Eventually<T> = T | Promise<T>;

/** Goes on with an answer: at once if it is there, for to await it would cost a turn. */
export function andThen<T, R>(answer: Eventually<T>, next: (answer: T) => Eventually<R>): Eventually<R> {
  return answer instanceof Promise ? answer.then(next) : next(answer);
}

/** What a column of any table can hold; those of records hold no bytes. */
export type StoredValue = ColumnValue | Uint8Array;

/** Whether a row is wanted: the first that is not ends the answer. */
export type Takes<R> = (row: R) => boolean;

/**
 * A query that is ready to run, given the values of its parameters in their order. Where it is said which rows are wanted,
 * the engine reads no further than to the first that is not.
 */
export type Bound<R> = (values: readonly StoredValue[], takes?: Takes<R>) => Eventually<R[]>;

/** The rows up to the first that is not wanted. */
export function taken<R>(rows: Iterable<R>, takes: Takes<R>): R[] {
  const wanted: R[] = [];
  for (const row of rows) {
    if (!takes(row)) break;
    wanted.push(row);
  }
  return wanted;
}

/** How much of the rows of a query is wanted, by the size of the texts in them. */
export interface Reach {
  /** Its columns, in order. */
  columns: readonly string[];
  /** Those that can be long. */
  texts: readonly string[];
  /** Bytes of such texts with which a row is the last that is wanted. */
  bytesMax: number;
}

export interface Engine {
  /** Prepares a query, to be kept for as long as the engine. */
  bind<R>(query: CompiledQuery<R>): Bound<R>;
  /**
   * The query that gives no more rows than are wanted, and one that shows that there are more; the query itself where the
   * engine reads rows one by one, as they are asked for.
   */
  within<R>(
    db: QueryExecutorProvider,
    query: Compilable<R> & Expression<unknown>,
    reach: Reach,
  ): Compilable<R>;
  /** Runs a command that answers nothing: in its place among the statements, without being waited for. */
  post(sql: string): void;
  /** Whether a value is one of the texts of a JSON array that is one parameter: one statement, however many there are. */
  isAmong(value: RawBuilder<string>, list: never): RawBuilder<boolean>;
  /** Whether a value is one of those that a query gives; they are looked up one by one. */
  isIn(value: RawBuilder<string>, found: Expression<unknown>): RawBuilder<boolean>;
  /** Writes those columns of the rows of a JSON array, its one parameter; null where a parameter a value costs less. */
  insertOf(table: string, columns: readonly string[]): CompiledQuery | null;
  readonly progress: TransactionProgress;
}

/** Records, and bytes in them. */
export interface Holdings {
  readonly records: number;
  readonly bytes: number;
}

/** What an organization holds, and may hold at most; null for without a limit. */
export interface Allowance extends Holdings {
  readonly recordsMax: number | null;
  readonly bytesMax: number | null;
}

/** What the stored answers of an organization take, by the hour as `stored-response-bytes.ts` reads it, and may take at most. */
export interface AnswerBytes {
  readonly byHour: string | null;
  /** Null for as much as those of any other. */
  readonly bytesMax: number | null;
}

/** What a transaction knows of an organization that it writes to; never changed, but followed by another. */
export interface OrgState {
  readonly orgId: number;
  /** The last instant that was taken, Unix milliseconds. */
  readonly instant: number;
  /** Whether it is what the database has. */
  readonly isStored: boolean;
  /** Null where what it holds is not counted. */
  readonly allowance: Allowance | null;
  readonly answers: AnswerBytes;
}

/** How a transaction is doing, on the connection that carries it out. */
export interface TransactionProgress {
  /** How many statements have written so far. */
  writes: number;
  /** Whether parts are set off by savepoints. They cost more than most parts do, so a group is first run without. */
  hasSavepoints: boolean;
  /** Whether a part failed after it wrote, with no savepoint to undo it: all has to be run again, with them. */
  isSpoiled: boolean;
  /**
   * The error of a statement since which the transaction takes no other until it is undone to a savepoint; null where
   * there was none, or the engine goes on after one.
   */
  failure: unknown;
  /** What is known of organizations, in the order in which it came to be so: the last of each is stored before the commit. */
  readonly states: OrgState[];
}

/** The progress of a connection that has done nothing yet. */
export function noProgress(): TransactionProgress {
  return { writes: 0, hasSavepoints: false, isSpoiled: false, failure: null, states: [] };
}
