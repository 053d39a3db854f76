// Step 2, credential: exactly one key of this API version, not revoked or expired, from an allowed network.

import { andThen, type Eventually } from '../../db/engine/engine.ts';
import { addressText } from '../../db/networks.ts';
import type { Store } from '../../db/store.ts';
import { type Api, apiOfKey } from '../../db/tables/key-format.ts';
import { ApiError, type Detail, type ErrorKind } from '../errors.ts';
import { type CachedKey, KeyCache, type PresentedKeyStore } from './key-cache.ts';
import { MinuteLimit } from './minute-limit.ts';

/** Wrong credentials that one client IP can send per minute. */
export const WRONG_CREDENTIALS_PER_MINUTE = 60;

const TOO_MANY = 'Too many invalid API keys from this IP address';
const KEY_HEADER = 'X-Service-Api-Key';
// Only the holder of an old secret gets to see this.
const ROTATED = 'The API key was rotated, and this is an old secret that no longer works; use the new one.';
const NOT_THE_NEW_SECRET = {
  path: 'key.secret',
  message: 'must be the new secret',
  code: 'AUTH_INVALID_API_KEY',
} as const;
const HOW_TO = `Send it as "${KEY_HEADER}: <key>" or as "Authorization: Bearer <key>".`;

/** Where a request came from, and when. */
interface Circumstances {
  api: Api;
  /** Returns the client IP; called only if the credential is wrong. */
  addressOf: (request: Request) => string;
  /** Unix milliseconds. */
  now: number;
  /** Whether a wrong credential counts; it does by default. */
  isCounted?: boolean;
}

/** Checks credentials, and slows down clients that guess keys. */
export class Authenticator {
  readonly #keys: KeyCache;
  readonly #wrong: MinuteLimit;

  constructor(store: PresentedKeyStore & Pick<Store, 'counters'>) {
    this.#wrong = new MinuteLimit(store.counters, 'wrong_keys', WRONG_CREDENTIALS_PER_MINUTE);
    this.#keys = new KeyCache(store);
  }

  /**
   * The key of a request; its networks are not checked here.
   * @throws ApiError 401, or 429 for a client IP with too many wrong credentials in this minute
   */
  authenticate(request: Request, at: Circumstances): Eventually<CachedKey> {
    const sent = credentialOf(request.headers);
    if (sent === null) {
      throw unauthorized('AUTH_MISSING_CREDENTIALS', `An API key is required. ${HOW_TO}`);
    }
    const found = sent === undefined ? undefined : this.#keys.find(sent, at.api);
    return andThen(found, (key) => {
      if (key === undefined || key.isRevoked) {
        const what = whatIsWrong(request.headers, sent, at.api);
        return this.#refuse(request, at, unauthorized('AUTH_INVALID_API_KEY', `${what} ${HOW_TO}`));
      }
      if (hasEnded(key.secretExpiresAt, at.now))
        return this.#refuse(request, at, unauthorized('AUTH_INVALID_API_KEY', ROTATED, [NOT_THE_NEW_SECRET]));
      if (hasEnded(key.expiresAt, at.now)) {
        const message = 'The API key has expired; ask your operator for a new one.';
        return this.#refuse(request, at, unauthorized('AUTH_EXPIRED_API_KEY', message));
      }
      return key;
    });
  }

  /**
   * Checks the key of a request that is still open.
   * @throws ApiError 401, which does not count as a wrong credential
   */
  authenticateAgain(request: Request, at: Circumstances): Eventually<CachedKey> {
    return this.authenticate(request, { ...at, isCounted: false });
  }

  async #refuse(
    request: Request,
    { addressOf, isCounted = true }: Circumstances,
    error: ApiError,
  ): Promise<never> {
    if (isCounted) await this.#wrong.count(addressOf(request), TOO_MANY);
    throw error;
  }
}

/**
 * Checks that a key is used from one of its networks.
 * @throws ApiError 403 OPERATION_FORBIDDEN otherwise; it names the IP address, which is the client's own
 */
export function requireNetwork(
  { admits }: CachedKey,
  request: Request,
  addressOf: Circumstances['addressOf'],
): void {
  if (admits === null) return;
  const address = addressOf(request);
  if (admits(address)) return;
  const text = addressText(address);
  const message = `The API key cannot be used from ${text}; it is restricted to certain networks.`;
  throw new ApiError('OPERATION_FORBIDDEN', message, {
    details: [{ path: 'key.networks', message: `must include ${text}`, code: 'OPERATION_FORBIDDEN' }],
  });
}

// The key that was sent; null if there is none, undefined if the value cannot be a key.
function credentialOf(headers: Headers): string | null | undefined {
  const key = headers.get(KEY_HEADER);
  const authorization = headers.get('Authorization');
  if (key === null && authorization === null) return null;
  if (key !== null && authorization !== null) return undefined;
  if (key !== null) return key;
  return /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}

function whatIsWrong(headers: Headers, key: string | undefined, api: Api): string {
  if (headers.has(KEY_HEADER) && headers.has('Authorization'))
    return `Send exactly one of ${KEY_HEADER} and Authorization, not both.`;
  const other = key === undefined ? undefined : apiOfKey(key);
  const hint =
    other === undefined || other === api ? '' : ` It is a ${other} key, but this path belongs to ${api}.`;
  return `The API key is not valid.${hint}`;
}

function hasEnded(at: number | null, now: number): boolean {
  return at !== null && at <= now;
}

function unauthorized(kind: ErrorKind, message: string, details: Detail[] | null = null): ApiError {
  return new ApiError(kind, message, { details, headers: { 'WWW-Authenticate': 'Bearer' } });
}
