// Counts the different texts of each column in the first pass over an input, within bounds, to check names before rows are sent.
import type { JsonValue } from '../../../db/model/json.ts';

/** The different texts of a column. */
export interface DistinctTexts {
  /** Rows by text. */
  rows: ReadonlyMap<string, number>;
  /** Whether there are more texts, so that the counts are of some rows only. */
  hasMore: boolean;
}

const TEXTS_PER_COLUMN_MAX = 1_000;
const TEXTS_MAX = 50_000;
const CHARACTERS_MAX = 200;

/** The texts of all columns of an input. */
export class TextCounts {
  readonly #columns = new Map<string, { rows: Map<string, number>; hasMore: boolean }>();
  #kept = 0;

  /** Counts one cell. */
  take(header: string, value: JsonValue): void {
    let column = this.#columns.get(header);
    if (column === undefined) {
      column = { rows: new Map(), hasMore: false };
      this.#columns.set(header, column);
    }
    // A column of IDs or addresses costs nothing more once it has too many.
    if (column.hasMore || typeof value === 'object') return;
    const text = String(value);
    const rows = column.rows.get(text);
    if (rows !== undefined) column.rows.set(text, rows + 1);
    else if (!this.#hasRoomFor(text, column.rows.size)) column.hasMore = true;
    else {
      this.#kept += 1;
      // A copy, because a part of a text keeps the whole piece of the file in memory.
      column.rows.set(Buffer.from(text).toString(), 1);
    }
  }

  /** The texts of a column. */
  of(header: string): DistinctTexts {
    return this.#columns.get(header) ?? { rows: new Map(), hasMore: false };
  }

  #hasRoomFor(text: string, kept: number): boolean {
    return kept < TEXTS_PER_COLUMN_MAX && this.#kept < TEXTS_MAX && text.length <= CHARACTERS_MAX;
  }
}
