// Cursors: opaque positions in a list, signed and bound to the list's order and filters.
import type { JsonScalar } from '../../db/model/json.ts';
import { invalid } from '../errors.ts';
import { Signer, type Signing } from './signing.ts';

const SIGNATURE_BYTES = 16;

/** Identifies a list: a cursor of one is rejected by every other. */
export interface ListIdentity {
  orgNumber: number;
  path: string;
  /** Order and filters, as sent in the request. */
  query: Readonly<Record<string, unknown>>;
}

export class Cursors {
  readonly #signer: Signer;

  constructor(signing: Signing) {
    this.#signer = new Signer(signing, 'cursor', SIGNATURE_BYTES);
  }

  /** The cursor for the position after a row, given by the row's sort values. */
  issue(list: ListIdentity, place: readonly JsonScalar[]): string {
    const payload = Buffer.from(JSON.stringify(place));
    return Buffer.concat([this.#signer.sign(contentOf(list, payload)), payload]).toString('base64url');
  }

  /**
   * The position of a cursor. `now` is in Unix milliseconds.
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
      const message = 'must be the end_cursor of a page of the same list, with the same order and filters';
      throw invalid('cursor', message, 'VALIDATION_INVALID_FORMAT');
    }
    return JSON.parse(payload.toString()) as JsonScalar[];
  }
}

// What is signed: the position and the list it belongs to.
function contentOf({ orgNumber, path, query }: ListIdentity, payload: Buffer): (string | Buffer)[] {
  const names = Object.keys(query).sort();
  return [JSON.stringify([orgNumber, path, names, names.map((name) => query[name])]), '\0', payload];
}
