// Step 2, credential: exactly one key, of this interface, neither revoked nor expired, from where it may be used.

import { andThen, type Eventually } from '../../db/engine/engine.ts';
import { addressText } from '../../db/networks.ts';
import type { Store } from '../../db/store.ts';
import { type Api, apiOfKey } from '../../db/tables/key-format.ts';
import { ApiError, type ErrorKind } from '../errors.ts';
import { type KnownKey, KnownKeys } from './key-cache.ts';
import { MinuteLimit } from './minute-limit.ts';

/** Wrong credentials that one client address may send in a minute. */
export const WRONG_CREDENTIALS_PER_MINUTE = 60;

const TOO_MANY = 'Too many wrong API keys from this address';
const KEY_HEADER = 'X-Service-Api-Key';
const HOW_TO = `Send it as "${KEY_HEADER}: <key>" or as "Authorization: Bearer <key>".`;

/** Where and when a request came. */
interface Circumstances {
  api: Api;
  /** Gives the client's network address; asked only if the credential is wrong. */
  addressOf: (request: Request) => string;
  /** Unix milliseconds. */
  now: number;
}

/** Checks credentials, and slows down clients that keep guessing. */
export class Authenticator {
  readonly #keys: KnownKeys;
  readonly #wrong: MinuteLimit;

  constructor(store: Pick<Store, 'read' | 'keyMark' | 'counters'>) {
    this.#wrong = new MinuteLimit(store.counters, 'wrong_keys', WRONG_CREDENTIALS_PER_MINUTE);
    this.#keys = new KnownKeys(store);
  }

  /**
   * The key that is asked with; from where it may be used is not looked at.
   * @throws ApiError 401, or 429 for an address with too many wrong credentials in this minute
   */
  authenticate(request: Request, at: Circumstances): Eventually<KnownKey> {
    const sent = credentialOf(request.headers);
    if (sent === null) {
      throw unauthorized('AUTH_MISSING_CREDENTIALS', `An API key is needed. ${HOW_TO}`);
    }
    const found = sent === undefined ? undefined : this.#keys.find(sent, at.api);
    return andThen(found, (key) => {
      if (key === undefined || key.isRevoked || hasEnded(key.secretExpiresAt, at.now)) {
        const what = whatIsWrong(request.headers, sent, at.api);
        return this.#refuse(request, at, unauthorized('AUTH_INVALID_API_KEY', `${what} ${HOW_TO}`));
      }
      if (hasEnded(key.expiresAt, at.now)) {
        const message = 'The API key has expired; ask your operator for a new one.';
        return this.#refuse(request, at, unauthorized('AUTH_EXPIRED_API_KEY', message));
      }
      return key;
    });
  }

  async #refuse(request: Request, { addressOf }: Circumstances, error: ApiError): Promise<never> {
    await this.#wrong.count(addressOf(request), TOO_MANY);
    throw error;
  }
}

/**
 * Holds a key to the networks that it may be used from.
 * @throws ApiError 403 OPERATION_FORBIDDEN for another address, which it names: it is the client's own
 */
export function requireNetwork(
  { admits }: KnownKey,
  request: Request,
  addressOf: Circumstances['addressOf'],
): void {
  if (admits === null) return;
  const address = addressOf(request);
  if (admits(address)) return;
  const message = `The API key may be used from certain networks only, and this request came from ${addressText(address)}, which is in none of them.`;
  throw new ApiError('OPERATION_FORBIDDEN', message);
}

// The key that was sent; null if there is none, undefined if what was sent cannot be one.
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
    return `Of ${KEY_HEADER} and Authorization exactly one is wanted, and this request has both.`;
  const other = key === undefined ? undefined : apiOfKey(key);
  const hint = other === undefined || other === api ? '' : ` It is a key for ${other}, and this is ${api}.`;
  return `The API key is not valid here.${hint}`;
}

function hasEnded(at: number | null, now: number): boolean {
  return at !== null && at <= now;
}

function unauthorized(kind: ErrorKind, message: string): ApiError {
  return new ApiError(kind, message, { headers: { 'WWW-Authenticate': 'Bearer' } });
}
