// Step 5, idempotent replay: a keyed request that was answered before gets the stored answer, a running one is waited for.

import type { Db } from '../../db/engine/schema.ts';
import { V2_SCOPES } from '../../db/model/resources/registry.ts';
import {
  type ResponseKey,
  readStoredBody,
  type StoredResponse,
  storeResponse,
} from '../../db/tables/idempotency.ts';
import { findKey } from '../../db/tables/keys.ts';
import { type Access, hasScope, principalOf } from '../access.ts';
import { ApiError, invalid } from '../errors.ts';
import type { Operation } from '../operation.ts';
import type { Rendered } from './respond.ts';
import { rawPath } from './route.ts';

export const KEY_HEADER = 'Idempotency-Key';
/** What a client is told whose key lacks scopes of the one that asked before. */
export const USED_WITH_ANOTHER_KEY =
  'was used with another API key of your user, which has scopes that this one does not have; use a new key';
const KEY_CHARACTERS_MAX = 255;
const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;

/** A keyed request: whose, which key, with which API key, and what was asked. */
export interface KeyedRequest extends ResponseKey {
  keyId: string;
  fingerprint: string;
  /** Whether an answer is there that has expired, whose place the new one takes. */
  hasExpired: boolean;
}

/** The keyed form of a request; null if the operation honours no key or none was sent. */
export function keyedRequest(
  operation: Operation,
  request: Request,
  access: Access,
  bytes: Uint8Array,
): KeyedRequest | null {
  const key = sentKey(operation, request);
  if (key === null || !VISIBLE_ASCII.test(key)) return null;
  const hash = new Bun.SHA256().update(`${request.method}\0${rawPath(request.url)}\0`).update(bytes);
  const { orgId, keyId } = access;
  const fingerprint = hash.digest('hex');
  return { orgId, principal: principalOf(access), key, keyId, fingerprint, hasExpired: false };
}

/** @throws ApiError 422 if a key was sent that cannot be one. */
export function checkKeyFormat(operation: Operation, request: Request): void {
  const key = sentKey(operation, request);
  if (key === null || VISIBLE_ASCII.test(key)) return;
  const code = key.length > KEY_CHARACTERS_MAX ? 'VALIDATION_OUT_OF_RANGE' : 'VALIDATION_INVALID_FORMAT';
  throw invalid(KEY_HEADER, `must be 1 to ${KEY_CHARACTERS_MAX} visible ASCII characters`, code);
}

function sentKey(operation: Operation, request: Request): string | null {
  return honoursKeys(operation) ? request.headers.get(KEY_HEADER) : null;
}

/** Whether an operation honours Idempotency-Key: every v2 POST and PATCH. */
export function honoursKeys(operation: Operation): boolean {
  return operation.api === 'v2' && (operation.method === 'POST' || operation.method === 'PATCH');
}

/**
 * Whether a stored answer may be given to a request with its key.
 * @throws ApiError 409 if another key of the user asked, which had scopes that this one lacks, 422 if for something else
 */
export async function checkReplay(
  db: Db,
  access: Access,
  keyed: KeyedRequest,
  stored: StoredResponse,
): Promise<void> {
  // Of a key that is bound to nobody, the answers are its own.
  if (access.userId !== null && stored.keyId !== keyed.keyId) {
    const asked = stored.keyId === null ? undefined : await findKey(db, stored.keyId);
    // Of an older crm nobody knows whose it is: it may need all there are.
    const needed = asked?.scopes.split(',') ?? V2_SCOPES;
    if (!needed.every((scope) => hasScope(access, scope))) throw ofAnotherKey();
  }
  if (stored.fingerprint === keyed.fingerprint) return;
  throw invalid(KEY_HEADER, 'was used for a different request before; use a new key for each request');
}

function ofAnotherKey(): ApiError {
  const detail = { path: KEY_HEADER, message: USED_WITH_ANOTHER_KEY, code: 'RESOURCE_CONFLICT' } as const;
  return new ApiError('RESOURCE_CONFLICT', `${KEY_HEADER}: ${USED_WITH_ANOTHER_KEY}`, { details: [detail] });
}

/** The 429 where stored answers take all that they may: nothing can be done under a new key. */
export function tooManyAnswers(bytesMax: number, seconds: number): ApiError {
  const message =
    `The answers that are stored for the Idempotency-Keys of your organization take all of the ${bytesMax} bytes that ` +
    `they may; try again in ${seconds} s, or ask your operator for more room.`;
  const headers = { 'Retry-After': String(seconds) };
  return new ApiError('RATE_LIMIT_EXCEEDED', message, { headers, limit: 'stored_answers' });
}

/** A stored answer as it is sent again; null if it is not there any more. */
export async function readAnswer(
  db: Db,
  keyed: KeyedRequest,
  { status, location }: StoredResponse,
  now: number,
): Promise<Rendered | null> {
  const body = await readStoredBody(db, keyed, now);
  return body === undefined ? null : { status, location, body };
}

/** Stores an answer, in the transaction of the work that it answers. */
export function storeAnswer(trx: Db, keyed: KeyedRequest, rendered: Rendered, now: number): Promise<void> {
  return storeResponse(trx, { ...keyed, ...rendered, now });
}

/** Keeps requests with one key from running at once. */
export class Replays {
  readonly #running = new Map<string, Promise<void>>();

  /** Waits until no other request with this key runs, and takes its place; the result gives the place back. */
  async enter(keyed: KeyedRequest): Promise<() => void> {
    const id = [keyed.orgId, keyed.principal, keyed.key].join('\0');
    for (let other = this.#running.get(id); other !== undefined; other = this.#running.get(id)) await other;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#running.set(id, promise);
    return () => {
      this.#running.delete(id);
      resolve();
    };
  }
}
