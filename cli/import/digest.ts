// Short names for long contents.

/** Hexadecimal SHA-256. */
export function sha256(text: string): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex');
}
