// One connection to PostgreSQL: opened when needed, closed when it fails, and reopened, but never within a transaction.
import type { ReservedSQL, SQL } from 'bun';
import { type CompiledQuery, Kysely } from 'kysely';
import { type Engine, type PreparedQuery, takeWhile } from '../engine/engine.ts';
import type { Db, Pipelining, Schema, Trx } from '../engine/schema.ts';
import { type TransactionEngine, TransactionProgress } from '../engine/transaction.ts';
import { PostgresDialect } from './dialect.ts';
import { endsTransaction, isOutdated, isWriteRefused } from './errors.ts';
import {
  bytePairs,
  firstRows,
  insertOf,
  isAmong,
  isAmongNumbers,
  isIn,
  isPairAmong,
  now,
  opaque,
  rowVersion,
  texts,
  updateOf,
  uuidBytes,
  within,
} from './expressions.ts';
import { Command, PreparedStatement, type Rows, rowsOnly, wholeResult } from './prepared-query.ts';
import { Silence } from './silence.ts';

const BEGIN = new Command('begin');
const COMMIT = new Command('commit');

export class PostgresConnection implements TransactionEngine, Pipelining {
  readonly progress = new TransactionProgress(this);
  readonly endsTransaction = endsTransaction;
  readonly isAmong = isAmong;
  readonly isAmongNumbers = isAmongNumbers;
  readonly firstRows = firstRows;
  readonly isPairAmong = isPairAmong;
  readonly isIn = isIn;
  readonly answersAtOnce = false;
  readonly texts = texts;
  readonly bytePairs = bytePairs;
  readonly uuidBytes = uuidBytes;
  readonly opaque = opaque;
  readonly rowVersion = rowVersion;
  readonly now = now;
  readonly limitText = within;
  readonly insertOf = insertOf;
  readonly updateOf = updateOf;
  readonly db: Trx = dbOf(this);
  readonly silence = new Silence();
  /** Rows that the transaction has written to each table. */
  readonly written = new Map<string, number>();
  /** Rows that it has removed from each table. */
  readonly removed = new Map<string, number>();
  readonly #client: SQL;
  readonly #explain: (error: unknown) => Promise<Error>;
  // Bound to one server session: once that is lost, it accepts no more statements.
  #session: ReservedSQL | null = null;
  #opening: Promise<ReservedSQL> | null = null;
  #isInTransaction = false;
  #isLost = false;
  #load = 0;
  #opened = 0;
  #failed = 0;

  /** @param explain explains why a connection could not be opened */
  constructor(options: SQL.PostgresOrMySQLOptions, explain: (error: unknown) => Promise<Error>) {
    this.#explain = explain;
    // Not imported: to load the client takes as long as a short command, and a file needs none.
    this.#client = new Bun.SQL({ ...options, adapter: 'postgres', max: 1, onclose: () => this.#lose() });
  }

  /** Number of unanswered statements. */
  get load(): number {
    return this.#load;
  }

  /** Whether a session is open, how many were opened, and how many attempts failed. */
  get sessions(): { isOpen: boolean; opened: number; failed: number } {
    return { isOpen: this.#session !== null, opened: this.#opened, failed: this.#failed };
  }

  pipelined(): Db {
    return this.db;
  }

  bind<R>({ sql: text }: CompiledQuery<R>): PreparedQuery<R> {
    const question = new PreparedStatement<R[]>(text, rowsOnly);
    if (!question.answersNothing) {
      return (values, takes) => {
        const asking = this.ask(question, values);
        return takes === undefined ? asking : asking.then((rows) => takeWhile(rows, takes));
      };
    }
    return (values) => {
      const asking = this.ask(question, values);
      // With savepoints, the caller of this part gets the error; without, the next statement or the commit does.
      if (!this.#isInTransaction || this.progress.hasSavepoints) return asking;
      asking.catch(() => undefined);
      return [];
    };
  }

  post(command: string): void {
    // The next statement reports any error.
    this.run(command).catch(() => undefined);
  }

  /** Runs a statement and returns its rows; integers are numbers, whatever their size. */
  run(text: string, values: readonly unknown[] = []): Promise<Rows> {
    return this.ask(new PreparedStatement(text, wholeResult), values);
  }

  /**
   * Begins a transaction; until it ends, all statements use this session or fail. Once a session is open, this does not wait:
   * the next statement reports any error.
   */
  async begin(hasSavepoints = false): Promise<void> {
    if (this.#session === null) await this.#open();
    this.#isInTransaction = true;
    this.progress.begin(hasSavepoints);
    this.written.clear();
    this.removed.clear();
    this.ask(BEGIN, []).catch(() => undefined);
  }

  /** Commits; rejects if the server rolled the transaction back instead, because one of its statements had failed. */
  async commit(): Promise<void> {
    const { command } = await this.ask(COMMIT, []);
    if (command !== 'COMMIT') throw this.progress.failure ?? new Error('cannot commit a failed transaction');
    this.#endTransaction();
  }

  /** Rolls the transaction back; if the server cannot be reached, closing the connection does. */
  async rollback(): Promise<void> {
    // After a refused write, the URL could lead to another server by now.
    const isOfUse = !isWriteRefused(this.progress.failure);
    try {
      await this.run('rollback');
      if (!isOfUse) this.#isLost = true;
    } catch {
      this.#isLost = true;
    }
    this.#endTransaction();
  }

  /**
   * Runs a frequent statement. While others are unanswered it is sent at once and runs in its turn, unless Bun has to prepare
   * it first.
   */
  async ask<T>(question: PreparedStatement<T>, values: readonly unknown[]): Promise<T> {
    this.#load += 1;
    try {
      if (question.isWrite) this.progress.noteWrite();
      let rows: Rows;
      try {
        rows = await this.#send(question, values);
      } catch (error) {
        // Bun prepares an outdated statement again and repeats it, but not if others were sent after it. The server had not
        // begun to run it; within a transaction, it cannot be repeated.
        if (this.#isInTransaction || !isOutdated(error)) throw error;
        rows = await this.#send(question, values);
      }
      if (question.into !== null) addTo(this.written, question.into, rows.count);
      if (question.from !== null) addTo(this.removed, question.from, rows.count);
      return question.answer(rows);
    } catch (error) {
      throw this.#isInTransaction ? this.progress.noteFailure(error) : error;
    } finally {
      this.#load -= 1;
    }
  }

  /** Closes the connection if its server has been silent for longer; the callers of unanswered statements get an error. */
  endIfSilent(longestMs: number): void {
    if (this.silence.ms <= longestMs) return;
    this.#lose();
    if (this.#isInTransaction) this.#session?.close({ timeout: 0 }).catch(() => undefined);
  }

  /** Opens another session for use after this transaction, or at once if there is none. */
  renew(): void {
    this.#lose();
  }

  async close(): Promise<void> {
    await this.#client.close({ timeout: 0 });
  }

  async #send<T>(question: PreparedStatement<T>, values: readonly unknown[]): Promise<Rows> {
    const session = this.#session ?? (await this.#open());
    this.silence.noteSent();
    try {
      return await question.send(session, values);
    } finally {
      this.silence.noteAnswered();
    }
  }

  #open(): Promise<ReservedSQL> {
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #connect(): Promise<ReservedSQL> {
    try {
      this.#session = await this.#client.reserve();
      this.#opened += 1;
      return this.#session;
    } catch (error) {
      this.#failed += 1;
      throw await this.#explain(error);
    }
  }

  // Within a transaction, later statements are rejected; otherwise the next one opens another session.
  #lose(): void {
    this.#isLost = true;
    if (!this.#isInTransaction) this.#forget();
  }

  #endTransaction(): void {
    this.#isInTransaction = false;
    if (this.#isLost) this.#forget();
  }

  // Always closed: an open session would keep the client from opening another.
  #forget(): void {
    const session = this.#session;
    this.#session = null;
    this.#isLost = false;
    session?.close({ timeout: 0 }).catch(() => undefined);
  }
}

function addTo(rows: Map<string, number>, table: string, count: number): void {
  rows.set(table, (rows.get(table) ?? 0) + count);
}

/** The tables as seen through an engine. */
export function dbOf<E extends Engine & Pick<PostgresConnection, 'run'>>(
  engine: E,
): Kysely<Schema> & { readonly engine: E } {
  const dialect = new PostgresDialect((text, values) => engine.run(text, values));
  return Object.assign(new Kysely<Schema>({ dialect }), { engine });
}
