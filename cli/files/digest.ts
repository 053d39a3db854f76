// SHA-256 digests of text and files.
import { closeSync, constants, openSync, readSync } from 'node:fs';

const PIECE_BYTES = 64 * 1024;

/** Hexadecimal SHA-256. */
export function sha256(text: string): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex');
}

/** Hashes the bytes of a file, or the first of them, with SHA-256. */
export function hashFile(path: string, bytesMax = Number.POSITIVE_INFINITY): Bun.CryptoHasher {
  const hasher = new Bun.CryptoHasher('sha256');
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const piece = Buffer.alloc(PIECE_BYTES);
    for (let left = bytesMax; left > 0; ) {
      const size = readSync(descriptor, piece, 0, Math.min(PIECE_BYTES, left), null);
      if (size === 0) break;
      hasher.update(piece.subarray(0, size));
      left -= size;
    }
  } finally {
    closeSync(descriptor);
  }
  return hasher;
}
