// A statement that is sent to PostgreSQL repeatedly, and what is known about its rows.
import type { ReservedSQL } from 'bun';

// PostgreSQL's number of its 64-bit integer type, which Bun returns as text.
const INT8 = 20;
const WRITES = /^\s*(?:insert|update|delete)\b/i;
const RETURNS = /\breturning\b/i;
const INSERTS = /^\s*insert into "(\w+)"/i;
const DELETES = /^\s*delete from "(\w+)"/i;

/** Rows as Bun returns them. */
export type Rows = Record<string, unknown>[] & {
  count: number;
  /** The server's command tag, such as COMMIT. */
  command: string;
  columns: { name: string; type: number }[];
};

/** The rows unchanged, for callers that need more of the result. */
export const wholeResult = (rows: Rows): Rows => rows;

/** The rows as a plain array: JSON.stringify takes twice as long for Bun's own kind of array. */
export const rowsOnly = <R>(rows: Rows): R[] => Array.from(rows) as R[];

export class PreparedStatement<T> {
  readonly text: string;
  readonly isWrite: boolean;
  /** Whether the statement returns nothing. */
  readonly answersNothing: boolean;
  /** The table that it inserts into. */
  readonly into: string | null;
  /** The table that it deletes from. */
  readonly from: string | null;
  readonly #take: (rows: Rows) => T;
  // The columns with 64-bit integers, looked up once because they stay the same.
  #integers: readonly string[] | null = null;

  /** @param take converts the rows */
  constructor(text: string, take: (rows: Rows) => T) {
    this.text = text;
    this.isWrite = WRITES.test(text);
    this.answersNothing = this.isWrite && !RETURNS.test(text);
    this.into = INSERTS.exec(text)?.[1] ?? null;
    this.from = DELETES.exec(text)?.[1] ?? null;
    this.#take = take;
  }

  send(session: ReservedSQL, values: readonly unknown[]): Promise<Rows> {
    return session.unsafe(this.text, values as unknown[]);
  }

  /** The converted rows, with 64-bit integers as numbers. */
  answer(rows: Rows): T {
    if (rows.length > 0) this.#readIntegers(rows);
    return this.#take(rows);
  }

  #readIntegers(rows: Rows): void {
    this.#integers ??= rows.columns.filter(({ type }) => type === INT8).map(({ name }) => name);
    for (const name of this.#integers) {
      for (const row of rows) if (typeof row[name] === 'string') row[name] = Number(row[name]);
    }
  }
}

/**
 * A statement without values that is still prepared, because it looks like a template literal. For any other, Bun waits for
 * all earlier statements, and later ones wait for it.
 */
export class Command extends PreparedStatement<Rows> {
  readonly #strings: TemplateStringsArray;

  constructor(text: string) {
    super(text, wholeResult);
    this.#strings = Object.defineProperty([text], 'raw', { value: [text] }) as string[] & { raw: string[] };
  }

  override send(session: ReservedSQL): Promise<Rows> {
    return session(this.#strings);
  }
}
