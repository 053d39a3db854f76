// The text of an API key: prefix, 43 base62 characters from 256 random bits, and a CRC32 of these as 6 base62 characters.

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_CHARACTERS = 43;
const CHECKSUM_CHARACTERS = 6;
/** Characters of a key after its prefix and the following underscore. */
export const KEY_TAIL_CHARACTERS = SECRET_CHARACTERS + CHECKSUM_CHARACTERS;

export type Api = 'v1' | 'v2';
export const KEY_PREFIXES = {
  v2: ['service_live'],
  v1: ['service_api', 'service_pk'],
} as const satisfies Record<Api, readonly string[]>;

/** A new key with the given prefix; only the returned value contains it in clear text. */
export function generateKey(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  const secret = base62(BigInt(`0x${Buffer.from(bytes).toString('hex')}`), SECRET_CHARACTERS);
  const body = `${prefix}_${secret}`;
  return body + checksum(body);
}

/** The API version of a well-formed key; undefined if it is mistyped or not a key. */
export function apiOfKey(key: string): Api | undefined {
  const match = /^(service_(?:live|api|pk))_[0-9A-Za-z]{49}$/.exec(key);
  if (match === null) return undefined;
  const body = key.slice(0, -CHECKSUM_CHARACTERS);
  if (checksum(body) !== key.slice(-CHECKSUM_CHARACTERS)) return undefined;
  return match[1] === 'service_live' ? 'v2' : 'v1';
}

/** The stored form of a key: its SHA-256, hex. */
export function hashKey(key: string): string {
  return Bun.SHA256.hash(key, 'hex');
}

// Called for every request.
function checksum(text: string): string {
  let digits = '';
  for (let rest = Bun.hash.crc32(text); rest > 0; rest = Math.floor(rest / 62)) {
    digits = ALPHABET.charAt(rest % 62) + digits;
  }
  return digits.padStart(CHECKSUM_CHARACTERS, '0');
}

function base62(value: bigint, length: number): string {
  let digits = '';
  for (let rest = value; rest > 0n; rest /= 62n) digits = ALPHABET[Number(rest % 62n)] + digits;
  return digits.padStart(length, '0');
}
