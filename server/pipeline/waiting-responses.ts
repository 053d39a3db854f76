// How a request waits for room for its response, and gets a stored one.
import { STORED_RESPONSE_BYTES_MAX, secondsUntilRoom } from '../../db/engine/stored-response-bytes.ts';
import { findStoredResponse } from '../../db/tables/idempotency.ts';
import type { Access } from '../access.ts';
import type { Operation } from '../operation.ts';
import { offDeadline } from './deadline.ts';
import type { Exchange } from './exchange.ts';
import { checkReplay, type KeyedRequest, readAnswer, tooManyStoredResponses } from './replay.ts';
import type { Rendered } from './respond.ts';
import type { ResponseReservation } from './response-reservation.ts';
import type { Services } from './services.ts';

/** Passes the room of a response on with it, unless the client already got another response. */
export function keepReservation(
  exchange: Exchange,
  reservation: ResponseReservation,
  rendered: Rendered,
): Rendered {
  if (exchange.givenUp === null) exchange.reservation = reservation;
  else reservation.release();
  return rendered;
}

/** Undoes the count of a request, so that its headers describe the limits without it. */
export async function refundRateLimit(
  { limiter }: Services,
  exchange: Exchange,
  access: Access,
): Promise<void> {
  if (exchange.uncount !== null) {
    Object.assign(exchange.headers, await exchange.uncount());
    return;
  }
  await limiter.giveBack(access, exchange.countedIn);
  Object.assign(exchange.headers, await limiter.describe(access));
}

/**
 * The response stored under the key; null if there is none, and room for one. It does not count against the rate limit,
 * but its headers describe it.
 * @throws ApiError 409, 422, 429
 */
export async function replay(
  { limiter, store }: Services,
  exchange: Exchange,
  {
    operation,
    access,
    keyed,
    reservation,
  }: { operation: Operation; access: Access; keyed: KeyedRequest; reservation: ResponseReservation },
): Promise<Rendered | null> {
  const { headers, now } = exchange;
  const { stored, hasExpired, answers } = await findStoredResponse(store.read, keyed, now);
  keyed.hasExpired = hasExpired;
  const seconds = stored === null ? secondsUntilRoom(answers, now) : 0;
  if (stored === null && seconds === 0) return null;
  Object.assign(headers, await limiter.describe(access));
  if (stored === null) throw tooManyStoredResponses(answers.bytesMax ?? STORED_RESPONSE_BYTES_MAX, seconds);
  await checkReplay(store.read, access, keyed, stored);
  if (!reservation.take(stored.bodyBytes)) await offDeadline(exchange, reservation.wait());
  const rendered = await readAnswer(store.read, operation, keyed, { stored, now });
  if (rendered !== null) headers['Idempotent-Replayed'] = 'true';
  return rendered;
}
