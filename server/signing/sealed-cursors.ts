// Cursors that clients cannot read: encrypted, and bound to their list.
import type { Sealer } from './signing.ts';

/** The cursors of one list. */
export class SealedCursors {
  readonly #sealer: Sealer;
  readonly #list: string;

  /** @param list its name, which a cursor of another list does not have */
  constructor(sealer: Sealer, list: string) {
    this.#sealer = sealer;
    this.#list = list;
  }

  /** The cursor with that content. */
  issue(content: Buffer): string {
    return this.#sealer.seal(content, this.#list).toString('base64url');
  }

  /** The content of a cursor; null if it was altered or belongs to another list. `now` is in Unix milliseconds. */
  open(cursor: string, now: number): Buffer | null {
    const bytes = Buffer.from(cursor, 'base64url');
    return bytes.toString('base64url') === cursor ? this.#sealer.open(bytes, this.#list, now) : null;
  }
}
