// Collects the first values of each column, to guess what a column may mean.
import type { JsonValue } from '../../../db/model/json.ts';

/** Values of the first rows that have any, by header. */
export interface Sample {
  rows: number;
  values: ReadonlyMap<string, readonly string[]>;
}

const ROWS_MAX = 500;
const CELLS_MAX = 50_000;

/** Collects a sample, row by row. */
export class Sampler implements Sample {
  rows = 0;
  readonly values = new Map<string, string[]>();
  #cells = 0;

  take(entries: readonly (readonly [header: string, value: JsonValue])[]): void {
    if (this.rows >= ROWS_MAX || this.#cells >= CELLS_MAX) return;
    this.rows += 1;
    this.#cells += entries.length;
    for (const [header, value] of entries) {
      const text = typeof value === 'object' ? '' : String(value).trim();
      if (text === '') continue;
      const values = this.values.get(header);
      if (values === undefined) this.values.set(header, [text]);
      else values.push(text);
    }
  }
}
