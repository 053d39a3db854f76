// What the tables need from a database engine: prepared statements, and a transaction whose parts can fail.
import type { Compilable, CompiledQuery, Expression, QueryExecutorProvider, RawBuilder } from 'kysely';
import type { ColumnValue } from '../model/fields.ts';

/** A result that one engine has at once and another later; callers await it in both cases. */
export type Eventually<T> = T | Promise<T>;

/** Continues with a result: at once if it is available, because awaiting it would cost a turn. */
export function andThen<T, R>(answer: Eventually<T>, next: (answer: T) => Eventually<R>): Eventually<R> {
  return answer instanceof Promise ? answer.then(next) : next(answer);
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

/** What runs statements that only read. */
export interface Engine {
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
  /** Whether a value is in the result of a query; values are looked up one by one. */
  isIn(value: RawBuilder<string>, found: Expression<unknown>): RawBuilder<boolean>;
}

/** The engine of a connection that can carry out a transaction. */
export interface TransactionEngine extends Engine {
  /** Runs a command without a result: in order with the statements, but without waiting for it. */
  post(sql: string): void;
  /** Inserts those columns from a JSON array of rows, its only parameter; null if one parameter per value is cheaper. */
  insertOf(table: string, columns: readonly string[]): CompiledQuery | null;
  readonly progress: TransactionProgress;
}

/** Number of records, and of bytes in them. */
export interface RecordTotals {
  readonly records: number;
  readonly bytes: number;
}

/** What an organization has, and its maximum; null for no limit. */
export interface QuotaState extends RecordTotals {
  readonly recordsMax: number | null;
  readonly bytesMax: number | null;
}

/** Size of an organization's stored responses, by hour in the format of `stored-response-bytes.ts`, and their limit. */
export interface StoredResponseBytes {
  readonly byHour: string | null;
  /** Null for the default limit. */
  readonly bytesMax: number | null;
}

/** What a transaction knows about an organization that it writes to; immutable, a change makes a new object. */
export interface OrganizationState {
  readonly orgNumber: number;
  /** The last instant that was assigned, in Unix milliseconds. */
  readonly instant: number;
  /** Whether the database already has this state. */
  readonly isStored: boolean;
  /** Null if the organization's content is not counted. */
  readonly quota: QuotaState | null;
  readonly answers: StoredResponseBytes;
}

/** The state of a transaction on its connection. */
export interface TransactionProgress {
  /** Number of statements that have written so far. */
  writes: number;
  /** Whether parts use savepoints. These cost more than most parts, so a group first runs without. */
  hasSavepoints: boolean;
  /** Whether a part failed after writing, without a savepoint: the whole group must run again with savepoints. */
  isSpoiled: boolean;
  /**
   * The error after which the transaction accepts no statements until it is rolled back to a savepoint; null if there was
   * none, or the engine continues after errors.
   */
  failure: unknown;
  /** What is known about organizations, in order of change: the last state of each is stored before the commit. */
  readonly states: OrganizationState[];
}

/** The state of a connection before it has done anything. */
export function newTransactionProgress(): TransactionProgress {
  return { writes: 0, hasSavepoints: false, isSpoiled: false, failure: null, states: [] };
}
