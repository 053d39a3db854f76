// Stored responses of requests with idempotency keys, written in the transaction of the work they answer.

import type { Db, IdempotencyRow, Trx } from '../engine/schema.ts';
import { statement } from '../engine/statement.ts';
import {
  type CountedResponse,
  countStoredResponses,
  STORED_RESPONSE_KEPT_MS,
} from '../engine/stored-response-bytes.ts';
import type { StoredResponseBytes } from '../engine/transaction.ts';
import type { Store } from '../store.ts';
import { compressedSince } from './settings.ts';
import {
  compressedText,
  isLong,
  plainText,
  readStoredTextAsync,
  type StoredTextColumns,
} from './stored-response-text.ts';

const PURGE_ROWS_MAX = 200;

/** Identifies a stored response. */
export interface ResponseKey {
  orgNumber: number;
  principal: string;
  key: string;
}

/** A response to be stored. */
export interface NewResponse extends ResponseKey {
  fingerprint: string;
  keyId: string;
  status: number;
  location: string | null;
  body: string;
  /** Whether it replaces an expired one. */
  hasExpired: boolean;
  /** Unix milliseconds. */
  now: number;
}

/** A stored response without its body, which can be long: `readStoredBody` returns that. */
export interface StoredResponse {
  fingerprint: string;
  status: number;
  location: string | null;
  /** Bytes of the body as sent. */
  bodyBytes: number;
  /** The key that sent the request; null if an older crm stored the response. */
  keyId: string | null;
}

type FoundRow = { [K in keyof StoredResponse]: StoredResponse[K] | null } & {
  byHour: string | null;
  bytesMax: number | null;
  createdAt: number | null;
  isPacked: number | null;
};

/** What is known about a key before the request is executed. */
export interface KeyState {
  /** The response stored in the last 24 hours. */
  stored: StoredResponse | null;
  /** Whether an expired one is still there. */
  hasExpired: boolean;
  /** The size of the organization's stored responses. */
  answers: StoredResponseBytes;
}

// Includes the size of the organization's responses: one statement is enough, because most keys are new.
const found = statement<FoundRow>((db, param) =>
  db
    .selectFrom('org_clocks as clock')
    .leftJoin('idempotency_keys as answer', (join) =>
      join
        .onRef('answer.org_id', '=', 'clock.org_id')
        .on('answer.principal', '=', param('principal'))
        .on('answer.key', '=', param('key')),
    )
    .select(['clock.answer_bytes as byHour', 'clock.answer_bytes_max as bytesMax'])
    .select(['answer.fingerprint', 'answer.status', 'answer.location', 'answer.key_id as keyId'])
    .select('answer.created_at as createdAt')
    .select((eb) => [
      eb.fn.coalesce('answer.body_bytes', eb.fn<number>('octet_length', ['answer.body'])).as('bodyBytes'),
      eb.case().when('answer.packed', 'is not', null).then(1).else(0).end().as('isPacked'),
    ])
    .where('clock.org_id', '=', param('org'))
    .$castTo<FoundRow>(),
);

/** The response stored under a key, and the size of all stored responses. */
export async function findStoredResponse(
  db: Db,
  { orgNumber, principal, key }: ResponseKey,
  now: number,
): Promise<KeyState> {
  const [row] = await found(db, { org: orgNumber, principal, key });
  const answers = { byHour: row?.byHour ?? null, bytesMax: row?.bytesMax ?? null };
  if (row === undefined || row.fingerprint === null) return { stored: null, hasExpired: false, answers };
  const { fingerprint, status, location, bodyBytes, keyId, isPacked, createdAt } = row;
  if ((createdAt ?? 0) <= now - STORED_RESPONSE_KEPT_MS) return { stored: null, hasExpired: true, answers };
  const given = isPacked === 1 ? fingerprint.slice(PACKED.length) : fingerprint;
  const stored = { fingerprint: given, status: status ?? 0, location, bodyBytes: bodyBytes ?? 0, keyId };
  return { stored, hasExpired: false, answers };
}

const body = statement<StoredTextColumns & Pick<IdempotencyRow, 'body_bytes'>>((db, param) =>
  db
    .selectFrom('idempotency_keys')
    .select(['body', 'packed', 'body_bytes'])
    .where('org_id', '=', param('org'))
    .where('principal', '=', param('principal'))
    .where('key', '=', param('key'))
    .where('created_at', '>', param('since')),
);

/** The body of the response stored under a key in the last 24 hours; undefined if there is none. */
export async function readStoredBody(
  db: Db,
  { orgNumber, principal, key }: ResponseKey,
  now: number,
): Promise<string | undefined> {
  const [row] = await body(db, { org: orgNumber, principal, key, since: now - STORED_RESPONSE_KEPT_MS });
  return row && readStoredTextAsync(row);
}

const insertion = statement<never>((db, param) =>
  db
    .insertInto('idempotency_keys')
    .values({
      org_id: param('org_id'),
      principal: param('principal'),
      key: param('key'),
      fingerprint: param('fingerprint'),
      status: param('status'),
      location: param('location'),
      body: param('body'),
      created_at: param('created_at'),
      packed: param('packed'),
      body_bytes: param('body_bytes'),
      stored_bytes: param('stored_bytes'),
      key_id: param('key_id'),
    })
    .onConflict((conflict) =>
      conflict.columns(['org_id', 'principal', 'key']).doUpdateSet((eb) => ({
        fingerprint: eb.ref('excluded.fingerprint'),
        status: eb.ref('excluded.status'),
        location: eb.ref('excluded.location'),
        body: eb.ref('excluded.body'),
        created_at: eb.ref('excluded.created_at'),
        packed: eb.ref('excluded.packed'),
        body_bytes: eb.ref('excluded.body_bytes'),
        stored_bytes: eb.ref('excluded.stored_bytes'),
        key_id: eb.ref('excluded.key_id'),
      })),
    ),
);

// Prefix of a compressed response's fingerprint: an older crm, which would return an empty body, then rejects the key.
const PACKED = 'zstd:';
// Size of a row without its texts: the status, three numbers, and entries in two indexes, one of which repeats the key.
const ROW_BYTES = 64;

/** Stores a response and counts it. */
export async function storeResponse(trx: Trx, response: NewResponse): Promise<void> {
  const { orgNumber, principal, key, status, location, keyId, now } = response;
  if (response.hasExpired) await deleteResponses(trx, orgNumber, [response], now);
  const mayPack = isLong(response.body) && (await compressedSince(trx)) <= now;
  const text = mayPack ? await compressedText(response.body) : plainText(response.body);
  const fingerprint = text.packed === null ? response.fingerprint : PACKED + response.fingerprint;
  const bodyBytes = text.packed === null ? text.body_bytes : text.packed.byteLength;
  const texts = 2 * (principal.length + key.length) + fingerprint.length + keyId.length;
  const stored_bytes = bodyBytes + texts + Buffer.byteLength(location ?? '') + ROW_BYTES;
  await insertion(trx, {
    org_id: orgNumber,
    principal,
    key,
    fingerprint,
    status,
    location,
    ...text,
    created_at: now,
    stored_bytes,
    key_id: keyId,
  });
  await countStoredResponses(trx, orgNumber, [{ created_at: now, stored_bytes }], { sign: 1, now });
}

/** Deletes stored responses of an organization, whatever their content, and subtracts them. */
export async function deleteResponses(
  trx: Trx,
  orgNumber: number,
  keys: readonly Pick<IdempotencyRow, 'principal' | 'key'>[],
  now: number,
): Promise<void> {
  const gone: CountedResponse[] = [];
  for (const { principal, key } of keys) {
    const rows = await trx
      .deleteFrom('idempotency_keys')
      .where('org_id', '=', orgNumber)
      .where('principal', '=', principal)
      .where('key', '=', key)
      .returning(['created_at', 'stored_bytes'])
      .execute();
    gone.push(...rows);
  }
  await countStoredResponses(trx, orgNumber, gone, { sign: -1, now });
}

/**
 * Deletes all expired responses, a few at a time so that no write waits long, and those of each organization under its own
 * lock, so that a request that reuses a key never waits. Returns the number of deleted responses.
 */
export async function purgeStoredResponses(
  store: Pick<Store, 'read' | 'write'>,
  now: number,
): Promise<number> {
  let total = 0;
  for (;;) {
    const expired = await findExpired(store.read, now - STORED_RESPONSE_KEPT_MS);
    const upTo = expired.at(-1)?.created_at ?? 0;
    for (const orgNumber of new Set(expired.map((row) => row.org_id)))
      total += await store.write(orgNumber, (trx) => deleteUpTo(trx, orgNumber, upTo, now));
    if (expired.length < PURGE_ROWS_MAX) return total;
  }
}

// The oldest ones.
function findExpired(db: Db, since: number): Promise<Pick<IdempotencyRow, 'org_id' | 'created_at'>[]> {
  return db
    .selectFrom('idempotency_keys')
    .select(['org_id', 'created_at'])
    .where('created_at', '<=', since)
    .orderBy('created_at')
    .limit(PURGE_ROWS_MAX)
    .execute();
}

async function deleteUpTo(trx: Trx, orgNumber: number, upTo: number, now: number): Promise<number> {
  const gone = await trx
    .deleteFrom('idempotency_keys')
    .where('org_id', '=', orgNumber)
    .where('created_at', '<=', upTo)
    .returning(['created_at', 'stored_bytes'])
    .execute();
  await countStoredResponses(trx, orgNumber, gone, { sign: -1, now });
  return gone.length;
}
