// Step 5, idempotent replay: a keyed request that was answered before gets the stored answer, a running one is waited for.
import type { Db } from '../../db/schema.ts';
import { findStoredResponse, storeResponse } from '../../db/tables/idempotency.ts';
import { type Access, principalOf } from '../access.ts';
import { invalid } from '../errors.ts';
import type { Operation } from '../operation.ts';
import type { Rendered } from './respond.ts';
import { rawPath } from './route.ts';

export const KEY_HEADER = 'Idempotency-Key';
const KEY_CHARACTERS_MAX = 255;
const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;

/** A keyed request: whose, which key, and what was asked. */
export interface KeyedRequest {
  orgId: number;
  principal: string;
  key: string;
  fingerprint: string;
}

/** An answer that was stored under a key. */
export interface StoredAnswer {
  /** Whether it is the answer to this very request. */
  isForSame: boolean;
  rendered: Rendered;
}

/**
 * The answer that a repeated request gets.
 * @throws ApiError 422 if the key was used for another request
 */
export function replayed({ isForSame, rendered }: StoredAnswer): Rendered {
  if (isForSame) return rendered;
  throw invalid(KEY_HEADER, 'was used for a different request before; use a new key for each request');
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
  return { orgId: access.orgId, principal: principalOf(access), key, fingerprint: hash.digest('hex') };
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

/** The answer that is stored under the key of a request, if there is one. */
export async function findAnswer(
  db: Db,
  keyed: KeyedRequest,
  now: number,
): Promise<StoredAnswer | undefined> {
  const stored = await findStoredResponse(db, { ...keyed, now });
  if (stored === undefined) return undefined;
  const { status, location, body, fingerprint } = stored;
  return { isForSame: fingerprint === keyed.fingerprint, rendered: { status, location, body } };
}

/** Stores an answer, in the transaction of the work that it answers. */
export async function storeAnswer(
  trx: Db,
  keyed: KeyedRequest,
  rendered: Rendered,
  now: number,
): Promise<void> {
  const { orgId: org_id, principal, key, fingerprint } = keyed;
  await storeResponse(trx, { org_id, principal, key, fingerprint, ...rendered, created_at: now });
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
