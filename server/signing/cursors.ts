// Cursors: opaque places in a list, signed, and bound to the list's order and filters.
import type { JsonScalar } from '../../db/model/json.ts';
import { invalid } from '../errors.ts';
import { Signer, type Signing } from './signing.ts';

const SIGNATURE_BYTES = 16;

/** What tells one list from another: a cursor of one is refused by every other. */
export interface ListIdentity {
  orgId: number;
  path: string;
  /** Order and filters, as given by the request. */
  query: Readonly<Record<string, unknown>>;
}

export class Cursors {
  readonly #signer: Signer;

  constructor(signing: Signing) {
    this.#signer = new Signer(signing, 'cursor', SIGNATURE_BYTES);
  }

  /** The cursor for the place after a row, given by what the row is sorted by. */
  issue(list: ListIdentity, place: readonly JsonScalar[]): string {
    const payload = Buffer.from(JSON.stringify(place));
    return Buffer.concat([this.#signer.sign(contentOf(list, payload)), payload]).toString('base64url');
  }

  /**
   * The place a cursor names. `now` is in Unix milliseconds.
   * @throws ApiError 422 VALIDATION_INVALID_FORMAT if it was altered or belongs to another list
   */
  open(list: ListIdentity, cursor: string, now: number): JsonScalar[] {
    const bytes = Buffer.from(cursor, 'base64url');
    const signature = bytes.subarray(0, SIGNATURE_BYTES);
    const payload = bytes.subarray(SIGNATURE_BYTES);
    const isGenuine =
      bytes.toString('base64url') === cursor &&
      payload.length > 0 &&
      this.#signer.isGenuine(signature, contentOf(list, payload), now);
    if (!isGenuine) {
      const message = 'must be the end_cursor of a page of this same list, with the same order and filters';
      throw invalid('cursor', message, 'VALIDATION_INVALID_FORMAT');
    }
    return JSON.parse(payload.toString()) as JsonScalar[];
  }
}

// What is signed: the place, and the list that it is a place in.
function contentOf({ orgId, path, query }: ListIdentity, payload: Buffer): (string | Buffer)[] {
  const names = Object.keys(query).sort();
  return [JSON.stringify([orgId, path, names, names.map((name) => query[name])]), '\0', payload];
}
