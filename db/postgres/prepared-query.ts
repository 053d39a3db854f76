// A statement as it is sent to PostgreSQL again and again, and what is known of its rows.
import type { ReservedSQL } from 'bun';

// PostgreSQL's number of its 64-bit integer type, which Bun gives as text.
const INT8 = 20;
const WRITES = /^\s*(?:insert|update|delete)\b/i;
const RETURNS = /\breturning\b/i;
const INSERTS = /^\s*insert into "(\w+)"/i;

/** Rows as Bun gives them. */
export type Rows = Record<string, unknown>[] & {
  count: number;
  /** What the server says that it did, such as COMMIT. */
  command: string;
  columns: { name: string; type: number }[];
};

/** The rows as they are, for whoever wants to know more of the answer. */
export const asTheyAre = (rows: Rows): Rows => rows;

/** The rows alone: of Bun's own kind of array JSON.stringify takes twice as long. */
export const alone = <R>(rows: Rows): R[] => Array.from(rows) as R[];

export class Question<T> {
  readonly text: string;
  readonly isWrite: boolean;
  /** Whether nothing is asked but that it be done. */
  readonly answersNothing: boolean;
  /** The table that it writes rows to. */
  readonly into: string | null;
  readonly #take: (rows: Rows) => T;
  // The columns that hold 64-bit integers: looked up once, they stay the same.
  #integers: readonly string[] | null = null;

  /** @param take what is taken of the answer */
  constructor(text: string, take: (rows: Rows) => T) {
    this.text = text;
    this.isWrite = WRITES.test(text);
    this.answersNothing = this.isWrite && !RETURNS.test(text);
    this.into = INSERTS.exec(text)?.[1] ?? null;
    this.#take = take;
  }

  send(session: ReservedSQL, values: readonly unknown[]): Promise<Rows> {
    return session.unsafe(this.text, values as unknown[]);
  }

  /** What is taken of an answer, its 64-bit integers made numbers. */
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
 * A statement without values that is prepared all the same, by looking like a template of source code. Of any other Bun
 * makes one that waits until all before it are answered, and that all after it wait for.
 */
export class Command extends Question<Rows> {
  readonly #strings: TemplateStringsArray;

  constructor(text: string) {
    super(text, asTheyAre);
    this.#strings = Object.defineProperty([text], 'raw', { value: [text] }) as string[] & { raw: string[] };
  }

  override send(session: ReservedSQL): Promise<Rows> {
    return session(this.#strings);
  }
}
