// One connection to PostgreSQL: made when it is needed, closed when nothing comes on it, made anew, but never amid a transaction.
import { type ReservedSQL, SQL } from 'bun';
import { type CompiledQuery, Kysely } from 'kysely';
import { type Bound, type Engine, noProgress, type TransactionProgress, taken } from '../engine/engine.ts';
import type { Db, Schema } from '../engine/schema.ts';
import { PostgresDialect } from './dialect.ts';
import { isWriteRefused } from './errors.ts';
import { insertOf, isAmong, isIn, within } from './expressions.ts';
import { alone, asTheyAre, Command, Question, type Rows } from './prepared-query.ts';

const BEGIN = new Command('begin');
const COMMIT = new Command('commit');

export class PostgresConnection implements Engine {
  readonly progress = noProgress();
  readonly isAmong = isAmong;
  readonly isIn = isIn;
  readonly within = within;
  readonly insertOf = insertOf;
  readonly db: Db = dbOf(this);
  /** How many rows the transaction has written to each table. */
  readonly written = new Map<string, number>();
  readonly #client: SQL;
  readonly #explain: (error: unknown) => Promise<Error>;
  // Bound to one connection of the server: once that is lost, it takes no further statement.
  #session: ReservedSQL | null = null;
  #opening: Promise<ReservedSQL> | null = null;
  #isInTransaction = false;
  #isLost = false;
  #load = 0;
  #opened = 0;
  #failed = 0;
  // When each statement that is not answered yet was sent, by `performance.now()`; they are answered in order.
  readonly #sentAt: number[] = [];

  /** @param explain says why a connection could not be opened */
  constructor(options: SQL.PostgresOrMySQLOptions, explain: (error: unknown) => Promise<Error>) {
    this.#explain = explain;
    this.#client = new SQL({ ...options, adapter: 'postgres', max: 1, onclose: () => this.#lose() });
  }

  /** How many statements are under way. */
  get load(): number {
    return this.#load;
  }

  /** Whether there is a session, how many there were, and how often none could be opened. */
  get sessions(): { isOpen: boolean; opened: number; failed: number } {
    return { isOpen: this.#session !== null, opened: this.#opened, failed: this.#failed };
  }

  bind<R>({ sql: text }: CompiledQuery<R>): Bound<R> {
    const question = new Question<R[]>(text, alone);
    if (!question.answersNothing) {
      return (values, takes) => {
        const asking = this.ask(question, values);
        return takes === undefined ? asking : asking.then((rows) => taken(rows, takes));
      };
    }
    return (values) => {
      const asking = this.ask(question, values);
      // Part by part there is somebody to be told of a failure; else the next statement is told, or the commit.
      if (!this.#isInTransaction || this.progress.hasSavepoints) return asking;
      asking.catch(() => undefined);
      return [];
    };
  }

  post(command: string): void {
    if (command.startsWith('rollback to')) this.progress.failure = null;
    // Whatever is wrong with it, the next statement is told.
    this.run(command).catch(() => undefined);
  }

  /** Runs a statement and gives its rows; integers are numbers, whatever their size. */
  run(text: string, values: readonly unknown[] = []): Promise<Rows> {
    return this.ask(new Question(text, asTheyAre), values);
  }

  /**
   * Begins a transaction; until its end, what is sent goes over this connection or nowhere. Once there is a connection,
   * nothing is waited for: whatever is wrong, the next statement is told.
   */
  async begin(): Promise<void> {
    if (this.#session === null) await this.#open();
    this.#isInTransaction = true;
    this.progress.failure = null;
    this.written.clear();
    this.ask(BEGIN, []).catch(() => undefined);
  }

  /** Commits; rejects where the server undid the transaction instead, because a statement of it had failed. */
  async commit(): Promise<void> {
    const { command } = await this.ask(COMMIT, []);
    if (command !== 'COMMIT')
      throw this.progress.failure ?? new Error('a transaction that had failed was to be committed');
    this.#endTransaction();
  }

  /** Undoes the transaction; where that cannot be told to the server, the end of the connection tells it. */
  async rollback(): Promise<void> {
    // Where it only reads, the address may lead to another server by now.
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
   * Runs a statement that is run again and again. While others are under way it goes out at once and is carried out in its
   * turn, save where Bun has to prepare it first.
   */
  async ask<T>(question: Question<T>, values: readonly unknown[]): Promise<T> {
    this.#load += 1;
    try {
      const session = this.#session ?? (await this.#open());
      if (question.isWrite) this.progress.writes += 1;
      this.#sentAt.push(performance.now());
      try {
        const rows = await question.send(session, values);
        if (question.into !== null) this.#noteWritten(question.into, rows.count);
        return question.answer(rows);
      } finally {
        this.#sentAt.shift();
      }
    } catch (error) {
      throw this.#isInTransaction ? noteFailure(this.progress, error) : error;
    } finally {
      this.#load -= 1;
    }
  }

  /** Closes the connection if a statement has been without an answer for longer; whoever waits is told. */
  endIfSilent(longestMs: number): void {
    const [oldest] = this.#sentAt;
    if (oldest === undefined || performance.now() - oldest <= longestMs) return;
    this.#lose();
    if (this.#isInTransaction) this.#session?.close({ timeout: 0 }).catch(() => undefined);
  }

  /** Opens another session for what comes after this transaction, or at once if there is none. */
  renew(): void {
    this.#lose();
  }

  async close(): Promise<void> {
    await this.#client.close({ timeout: 0 });
  }

  #noteWritten(table: string, rows: number): void {
    this.written.set(table, (this.written.get(table) ?? 0) + rows);
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

  // What is sent amid a transaction is refused from now on; else the next statement opens another.
  #lose(): void {
    this.#isLost = true;
    if (!this.#isInTransaction) this.#forget();
  }

  #endTransaction(): void {
    this.#isInTransaction = false;
    if (this.#isLost) this.#forget();
  }

  // Closed in any case: one that stayed open would keep the client from opening another.
  #forget(): void {
    const session = this.#session;
    this.#session = null;
    this.#isLost = false;
    session?.close({ timeout: 0 }).catch(() => undefined);
  }
}

// The transaction takes no further statement; only a savepoint could bring it back. All that fail after the first do so
// because of it, so that it is what each of them is told.
function noteFailure(progress: TransactionProgress, error: unknown): unknown {
  progress.failure ??= error;
  if (!progress.hasSavepoints) progress.isSpoiled = true;
  return progress.failure;
}

/** The tables as seen through an engine. */
export function dbOf(engine: Engine & Pick<PostgresConnection, 'run'>): Db {
  const dialect = new PostgresDialect((text, values) => engine.run(text, values));
  return Object.assign(new Kysely<Schema>({ dialect }), { engine });
}
