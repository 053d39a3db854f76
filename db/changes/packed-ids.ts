// Many IDs in a short text, as the log of changes contains them.
import { idOfBytes, textBytes } from '../tables/id-bytes.ts';

const ID_BYTES = 16;

/** Packs IDs of records, which are UUIDs. */
export function packIds(ids: readonly string[]): string {
  return Buffer.concat(ids.map(textBytes).filter(({ length }) => length === ID_BYTES)).toString('base64url');
}

/** The IDs that were packed, in order. */
export function unpackIds(packed: string): string[] {
  const bytes = Buffer.from(packed, 'base64url');
  return Array.from({ length: bytes.length / ID_BYTES }, (_, index) =>
    idOfBytes(bytes.subarray(index * ID_BYTES, (index + 1) * ID_BYTES)),
  );
}
