// How a request waits for room for its answer, and gets the one that was stored.
import { ANSWER_BYTES_MAX, secondsUntilRoom } from '../../db/engine/stored-response-bytes.ts';
import { findStoredResponse } from '../../db/tables/idempotency.ts';
import type { Access } from '../access.ts';
import type { Exchange } from './exchange.ts';
import { checkReplay, type KeyedRequest, readAnswer, tooManyAnswers } from './replay.ts';
import type { Rendered } from './respond.ts';
import type { AnswerRoom } from './response-reservation.ts';
import type { Services } from './services.ts';

/** Has room for an answer that did not fit; @throws ApiError 429 if there is none in ten seconds */
export async function waitForRoom(exchange: Exchange, room: AnswerRoom): Promise<void> {
  const since = performance.now();
  exchange.heldUpSince = since;
  await room.wait();
  exchange.heldUpSince = null;
  exchange.heldUpMs += performance.now() - since;
}

/** The room of an answer goes with it, to be sent; not where the client was told something else meanwhile. */
export function kept(exchange: Exchange, room: AnswerRoom, rendered: Rendered): Rendered {
  if (exchange.givenUp === null) exchange.room = room;
  else room.release();
  return rendered;
}

/** Takes back that a request was counted, and has it told where the limits stand. */
export async function uncount({ limiter }: Services, exchange: Exchange, access: Access): Promise<void> {
  if (exchange.uncount !== null) {
    Object.assign(exchange.headers, await exchange.uncount());
    return;
  }
  await limiter.giveBack(access, exchange.countedIn);
  Object.assign(exchange.headers, await limiter.describe(access));
}

/**
 * The answer that was stored under its key; null where there is none, and room for one. Free of the rate limit, and yet told
 * where it stands.
 * @throws ApiError 409, 422, 429
 */
export async function replay(
  { limiter, store }: Services,
  exchange: Exchange,
  { access, keyed, room }: { access: Access; keyed: KeyedRequest; room: AnswerRoom },
): Promise<Rendered | null> {
  const { headers, now } = exchange;
  const { stored, hasExpired, answers } = await findStoredResponse(store.read, keyed, now);
  keyed.hasExpired = hasExpired;
  const seconds = stored === null ? secondsUntilRoom(answers, now) : 0;
  if (stored === null && seconds === 0) return null;
  Object.assign(headers, await limiter.describe(access));
  if (stored === null) throw tooManyAnswers(answers.bytesMax ?? ANSWER_BYTES_MAX, seconds);
  await checkReplay(store.read, access, keyed, stored);
  if (!room.take(stored.bodyBytes)) await waitForRoom(exchange, room);
  const rendered = await readAnswer(store.read, keyed, stored, now);
  if (rendered !== null) headers['Idempotent-Replayed'] = 'true';
  return rendered;
}
