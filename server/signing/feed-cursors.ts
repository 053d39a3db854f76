// Cursors of the feed of changes: encrypted, because a user-bound key must not learn how much others change.
import { andThen, type Eventually } from '../../db/engine/engine.ts';
import type { JsonValue } from '../../db/model/json.ts';
import { invalid } from '../errors.ts';
import { type ListIdentity, nameOfList } from './list-identity.ts';
import { SealedCursors } from './sealed-cursors.ts';
import type { Sealer, Signing } from './signing.ts';

const NUMBER_BYTES = 8;
const UNKNOWN = -1;

/** A place in the log of an organization. */
export interface FeedPlace {
  sequence: number;
  /** Of the log. */
  epoch: string;
  /** When the change with that number happened, in Unix milliseconds; null if that is not known. */
  at: number | null;
}

/** The cursors of one feed, as one reader sees it. */
export class FeedCursors {
  readonly #cursors: SealedCursors;

  private constructor(cursors: SealedCursors) {
    this.#cursors = cursors;
  }

  /** The cursors of a feed, with the current secret. */
  static of(signing: Signing, sealer: Sealer, feed: ListIdentity): Eventually<FeedCursors> {
    return andThen(signing.refresh(), () => new FeedCursors(new SealedCursors(sealer, nameOfList(feed))));
  }

  /** The cursor for a place. */
  issue({ sequence, epoch, at }: FeedPlace): string {
    const content = Buffer.alloc(2 * NUMBER_BYTES);
    content.writeBigUInt64BE(BigInt(sequence));
    content.writeBigInt64BE(BigInt(at ?? UNKNOWN), NUMBER_BYTES);
    return this.#cursors.issue(Buffer.concat([content, Buffer.from(epoch)]));
  }

  /**
   * The place of a cursor; null if none was sent. `now` is in Unix milliseconds.
   * @param path where it was sent
   * @throws ApiError 422 VALIDATION_INVALID_FORMAT if it was altered or belongs to another feed
   */
  open(cursor: JsonValue | undefined, now: number, path = 'cursor'): FeedPlace | null {
    if (typeof cursor !== 'string') return null;
    const content = this.#cursors.open(cursor, now);
    // Those of earlier builds are shorter.
    if (content === null || content.length < 2 * NUMBER_BYTES) {
      const given = path === 'cursor' ? '' : 'the id of an event, or ';
      const message = `must be ${given}the end_cursor of a page of the same feed, with the same order and filters`;
      throw invalid(path, message, 'VALIDATION_INVALID_FORMAT');
    }
    const at = Number(content.readBigInt64BE(NUMBER_BYTES));
    return {
      sequence: Number(content.readBigUInt64BE()),
      epoch: content.subarray(2 * NUMBER_BYTES).toString(),
      at: at === UNKNOWN ? null : at,
    };
  }
}
