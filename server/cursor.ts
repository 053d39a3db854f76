// Cursors: opaque places in a list, signed, and bound to the list's order and filters.
import { timingSafeEqual } from 'node:crypto';
import type { JsonScalar } from '../db/declare/json.ts';
import { invalid } from './errors.ts';

const SIGNATURE_BYTES = 16;

/** What tells one list from another: a cursor of one is refused by every other. */
export interface ListIdentity {
  orgId: number;
  path: string;
  /** Order and filters, as given by the request. */
  query: Readonly<Record<string, unknown>>;
}

export class Cursors {
  /** HMAC-SHA256 that has taken the key and what tells cursors from other things that are signed. */
  readonly #signer: Bun.CryptoHasher;

  /** @param secret signs the cursors; the same for as long as they are to hold */
  constructor(secret: string) {
    this.#signer = new Bun.CryptoHasher('sha256', secret).update('cursor\0');
  }

  /** The cursor for the place after a row, given by what the row is sorted by. */
  issue(list: ListIdentity, place: readonly JsonScalar[]): string {
    const payload = Buffer.from(JSON.stringify(place));
    return Buffer.concat([this.#sign(list, payload), payload]).toString('base64url');
  }

  /**
   * The place a cursor names.
   * @throws ApiError 422 VALIDATION_INVALID_FORMAT if it was altered or belongs to another list
   */
  open(list: ListIdentity, cursor: string): JsonScalar[] {
    const bytes = Buffer.from(cursor, 'base64url');
    const signature = bytes.subarray(0, SIGNATURE_BYTES);
    const payload = bytes.subarray(SIGNATURE_BYTES);
    const isGenuine =
      bytes.toString('base64url') === cursor &&
      payload.length > 0 &&
      timingSafeEqual(signature, this.#sign(list, payload));
    if (!isGenuine) {
      const message = 'must be the end_cursor of a page of this same list, with the same order and filters';
      throw invalid('cursor', message, 'VALIDATION_INVALID_FORMAT');
    }
    return JSON.parse(payload.toString()) as JsonScalar[];
  }

  #sign({ orgId, path, query }: ListIdentity, payload: Buffer): Buffer {
    const names = Object.keys(query).sort();
    const identity = JSON.stringify([orgId, path, names, names.map((name) => query[name])]);
    const signature = this.#signer.copy().update(identity).update('\0').update(payload).digest();
    return signature.subarray(0, SIGNATURE_BYTES);
  }
}
