// Counts what a request examines, and ends it in time: index entries, rows and links, and the parts of long texts.
import { TimeSlices } from '../event-loop.ts';
import type { Row } from '../model/resource.ts';

// A row with longer text is on further pages of the file.
const TEXT_PART_UNITS = 4_096;

/** How much one request may examine, and has examined. */
export class Examination {
  readonly #max: number;
  readonly #turns = new TimeSlices();
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Number of index entries, rows and links so far. */
  get count(): number {
    return this.#count;
  }

  /** How many more may be examined; at least 0. */
  get left(): number {
    return Math.max(0, this.#max - this.#count);
  }

  /** Counts entries that were read. */
  add(entries: number): void {
    this.#count += entries;
  }

  /** Counts rows that were read, with their texts. */
  addRows(rows: readonly Row[]): void {
    this.#count += rows.length;
    for (const row of rows) {
      for (const name in row) {
        const value = row[name];
        if (typeof value === 'string') this.#count += Math.floor(value.length / TEXT_PART_UNITS);
      }
    }
  }

  /** Lets others run if this request has had its turn. */
  async pause(): Promise<void> {
    if (this.#turns.isOver) await this.#turns.next();
  }
}
