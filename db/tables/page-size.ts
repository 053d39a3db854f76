// How far a page is read: 200 records can be larger than a response may be.
import { memoize } from '../cache.ts';
import type { RecordRow } from '../engine/schema.ts';
import type { Resource } from '../model/resource.ts';
import { isShown } from '../model/schemas.ts';

/** Bytes of UTF-8 after which a page ends. */
export const PAGE_BYTES_MAX = 4 * 1024 * 1024;

/** Length up to which a field's text is not counted, in code points. */
const SHORT_TEXT_MAX = 1_000;

/** The columns of a resource that can contain long texts. */
export const longTexts = memoize(({ fields }: Resource): string[] =>
  Object.entries(fields).flatMap(([name, field]) => {
    const { maxLength = Number.POSITIVE_INFINITY } = field.schema as { maxLength?: number };
    const isLong = field.column === 'text' && field.kind !== 'enum' && field.references === undefined;
    return isLong && isShown(field) && maxLength > SHORT_TEXT_MAX ? [name] : [];
  }),
);

/** Accepts rows until their long texts exceed the size of a page; the response is larger than these texts. */
export class PageSizeLimit {
  /** Whether there are rows after the accepted ones. */
  isCut = false;
  readonly #texts: readonly string[];
  #bytes = 0;

  constructor(texts: readonly string[]) {
    this.#texts = texts;
  }

  /** Whether the page accepts more rows. */
  get takesMore(): boolean {
    return this.#bytes <= PAGE_BYTES_MAX;
  }

  /** Counts a row, if the page accepts more. */
  readonly takes = (row: RecordRow): boolean => {
    if (this.takesMore) this.count(row);
    else this.isCut = true;
    return !this.isCut;
  };

  count(row: RecordRow): void {
    for (const name of this.#texts) {
      const text = row[name];
      if (typeof text === 'string') this.#bytes += Buffer.byteLength(text);
    }
  }
}
