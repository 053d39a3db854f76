// The rows of a result, with PostgreSQL's 64-bit integers as numbers.

// PostgreSQL's number of its 64-bit integer type, which Bun gives as text.
const INT8 = 20;

/** Rows as Bun gives them. */
export type Rows = Record<string, unknown>[] & {
  count: number;
  /** What the server says that it did, such as COMMIT. */
  command: string;
  columns: { name: string; type: number }[];
};

/** The columns of a statement's rows that hold 64-bit integers: looked up once, they stay the same. */
export class IntegerColumns {
  #names: readonly string[] | null = null;

  /** The rows alone, their integers numbers; of Bun's own kind of array JSON.stringify takes twice as long. */
  list(rows: Rows): Record<string, unknown>[] {
    return Array.from(this.read(rows));
  }

  /** Makes the integers numbers, whatever their size, where they are. */
  read(rows: Rows): Rows {
    if (rows.length === 0) return rows;
    this.#names ??= rows.columns.filter(({ type }) => type === INT8).map(({ name }) => name);
    for (const name of this.#names) {
      for (const row of rows) if (typeof row[name] === 'string') row[name] = Number(row[name]);
    }
    return rows;
  }
}
