// Step 5, idempotent replay: a repeated request gets the stored response, or waits for the one that is running.

import { findKey } from '../../db/accounts/keys.ts';
import type { Db, Trx } from '../../db/engine/schema.ts';
import type { Data } from '../../db/model/json.ts';
import { V2_SCOPES } from '../../db/model/resources/registry.ts';
import {
  type ResponseKey,
  readStoredBody,
  type StoredResponse,
  storeResponse,
} from '../../db/tables/idempotency.ts';
import { type Access, hasScope, principalOf } from '../access.ts';
import { ApiError, invalid } from '../errors.ts';
import type { Operation } from '../operation.ts';
import type { Rendered } from './respond.ts';
import { rawPath } from './route.ts';

export const KEY_HEADER = 'Idempotency-Key';
/** The error for a key without the scopes of the key that sent the first request. */
export const USED_WITH_ANOTHER_KEY =
  'was used with another API key of your user that has scopes this key does not have; use a new idempotency key';
const KEY_CHARACTERS_MAX = 255;
const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;

/** A request with an idempotency key: its caller, its API key, and what it asked. */
export interface KeyedRequest extends ResponseKey {
  keyId: string;
  fingerprint: string;
  /** Whether an expired response is stored, which the new one replaces. */
  hasExpired: boolean;
}

/** The keyed form of a request; null if the operation supports no idempotency key or none was sent. */
export function keyedRequest(
  operation: Operation,
  request: Request,
  access: Access,
  bytes: Uint8Array,
): KeyedRequest | null {
  const key = sentKey(operation, request);
  if (key === null || !VISIBLE_ASCII.test(key)) return null;
  const hash = new Bun.SHA256().update(`${request.method}\0${rawPath(request.url)}\0`).update(bytes);
  const { orgNumber, keyId } = access;
  const fingerprint = hash.digest('hex');
  return { orgNumber, principal: principalOf(access), key, keyId, fingerprint, hasExpired: false };
}

/** @throws ApiError 422 if an invalid idempotency key was sent. */
export function checkKeyFormat(operation: Operation, request: Request): void {
  const key = sentKey(operation, request);
  if (key === null || VISIBLE_ASCII.test(key)) return;
  const code = key.length > KEY_CHARACTERS_MAX ? 'VALIDATION_OUT_OF_RANGE' : 'VALIDATION_INVALID_FORMAT';
  throw invalid(KEY_HEADER, `must be 1 to ${KEY_CHARACTERS_MAX} visible ASCII characters`, code);
}

function sentKey(operation: Operation, request: Request): string | null {
  return takesIdempotencyKey(operation) ? request.headers.get(KEY_HEADER) : null;
}

/** Whether an operation supports Idempotency-Key: every v2 POST and PATCH. */
export function takesIdempotencyKey(operation: Operation): boolean {
  return operation.api === 'v2' && (operation.method === 'POST' || operation.method === 'PATCH');
}

/**
 * Whether a stored response can be returned for a request with its key.
 * @throws ApiError 409 if another key of the user, with scopes that this one lacks, asked first; 422 if the request differs
 */
export async function checkReplay(
  db: Db,
  access: Access,
  keyed: KeyedRequest,
  stored: StoredResponse,
): Promise<void> {
  // A key that is not bound to a user shares its responses with no other key.
  if (access.userId !== null && stored.keyId !== keyed.keyId) {
    const asked = stored.keyId === null ? undefined : await findKey(db, stored.keyId);
    // A response stored by an older crm has no key, so it could need all scopes.
    const needed = asked?.scopes.split(',') ?? V2_SCOPES;
    if (!needed.every((scope) => hasScope(access, scope))) throw ofAnotherKey();
  }
  if (stored.fingerprint === keyed.fingerprint) return;
  throw invalid(KEY_HEADER, 'was already used for a different request; use a new key for each request');
}

function ofAnotherKey(): ApiError {
  const detail = { path: KEY_HEADER, message: USED_WITH_ANOTHER_KEY, code: 'RESOURCE_CONFLICT' } as const;
  return new ApiError('RESOURCE_CONFLICT', `${KEY_HEADER}: ${USED_WITH_ANOTHER_KEY}`, { details: [detail] });
}

/** The 429 when stored responses reach their limit: requests with new idempotency keys are not executed. */
export function tooManyStoredResponses(bytesMax: number, seconds: number): ApiError {
  const message =
    `The stored responses for the idempotency keys of your organization have reached their limit of ${bytesMax} bytes; ` +
    `try again in ${seconds} s, or ask your operator for a higher limit.`;
  const headers = { 'Retry-After': String(seconds) };
  return new ApiError('RATE_LIMIT_EXCEEDED', message, { headers, limit: 'stored_answers' });
}

/** A stored response as it is sent again; null if it is no longer there. */
export async function readAnswer(
  db: Db,
  operation: Operation,
  keyed: KeyedRequest,
  { stored: { status, location }, now }: { stored: StoredResponse; now: number },
): Promise<Rendered | null> {
  const body = await readStoredBody(db, keyed, now);
  if (body === undefined) return null;
  if (operation.restore === undefined || status >= 300) return { status, location, body };
  const envelope = JSON.parse(body) as Data & { data: Data };
  const data = await operation.restore(db, envelope.data);
  return { status, location, body: JSON.stringify({ ...envelope, data }) };
}

/** Stores a response in the transaction of the work that it answers. */
export function saveStoredResponse(
  trx: Trx,
  keyed: KeyedRequest,
  rendered: Rendered,
  now: number,
): Promise<void> {
  return storeResponse(trx, { ...keyed, ...rendered, now });
}

/** Keeps requests with the same idempotency key from running at once. */
export class Replays {
  readonly #running = new Map<string, Promise<void>>();

  /** Waits until no other request with this key runs, and then blocks the next; the result ends that. */
  async enter(keyed: KeyedRequest): Promise<() => void> {
    const id = [keyed.orgNumber, keyed.principal, keyed.key].join('\0');
    for (let other = this.#running.get(id); other !== undefined; other = this.#running.get(id)) await other;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#running.set(id, promise);
    return () => {
      this.#running.delete(id);
      resolve();
    };
  }
}
