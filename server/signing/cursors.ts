// Cursors: opaque positions in a list, signed and bound to the list's order and filters.
import { andThen, type Eventually } from '../../db/engine/engine.ts';
import type { JsonValue } from '../../db/model/json.ts';
import { invalid } from '../errors.ts';
import { FeedCursors } from './feed-cursors.ts';
import { type ListIdentity, nameOfList } from './list-identity.ts';
import { SealedCursors } from './sealed-cursors.ts';
import { Sealer, Signer, type Signing } from './signing.ts';

const SIGNATURE_BYTES = 16;

/** What a cursor contains: the sort value and the ID of the record before it. */
export interface CursorPosition {
  value: number;
  id: string;
}

export class Cursors {
  readonly #signing: Signing;
  readonly #signer: Signer;
  readonly #sealer: Sealer;

  constructor(signing: Signing) {
    this.#signing = signing;
    this.#signer = new Signer(signing, 'cursor', SIGNATURE_BYTES);
    this.#sealer = new Sealer(signing, 'feed cursor');
  }

  /** The cursors of a feed of changes. */
  ofFeed(feed: ListIdentity): Eventually<FeedCursors> {
    return FeedCursors.of(this.#signing, this.#sealer, feed);
  }

  /** The cursors of one list that must not show its clients where they lead to. */
  ofHidden(list: ListIdentity): Eventually<SealedCursors> {
    return andThen(this.#signing.refresh(), () => new SealedCursors(this.#sealer, nameOfList(list)));
  }

  /** The cursors of one list, signed with the current secret. */
  of(list: ListIdentity): Eventually<ListCursors> {
    return andThen(this.#signing.refresh(), () => new ListCursors(this.#signer, list));
  }
}

export class ListCursors {
  readonly #signer: Signer;
  readonly #list: ListIdentity;

  constructor(signer: Signer, list: ListIdentity) {
    this.#signer = signer;
    this.#list = list;
  }

  /** The cursor for a position. */
  issue({ value, id }: CursorPosition): string {
    const payload = Buffer.from(JSON.stringify([value, id]));
    return Buffer.concat([this.#signer.sign(contentOf(this.#list, payload)), payload]).toString('base64url');
  }

  /**
   * The position of a cursor; null if none was sent. `now` is in Unix milliseconds.
   * @throws ApiError 422 VALIDATION_INVALID_FORMAT if it was altered or belongs to another list
   */
  open(cursor: JsonValue | undefined, now: number): CursorPosition | null {
    if (typeof cursor !== 'string') return null;
    const bytes = Buffer.from(cursor, 'base64url');
    const signature = bytes.subarray(0, SIGNATURE_BYTES);
    const payload = bytes.subarray(SIGNATURE_BYTES);
    const isGenuine =
      bytes.toString('base64url') === cursor &&
      payload.length > 0 &&
      this.#signer.isGenuine(signature, contentOf(this.#list, payload), now);
    if (!isGenuine) {
      const message = 'must be the end_cursor of a page of the same list, with the same order and filters';
      throw invalid('cursor', message, 'VALIDATION_INVALID_FORMAT');
    }
    const [value, id] = JSON.parse(payload.toString()) as [number, string];
    return { value, id };
  }
}

// What is signed: the position and the list it belongs to.
function contentOf(list: ListIdentity, payload: Buffer): (string | Buffer)[] {
  return [nameOfList(list), '\0', payload];
}
