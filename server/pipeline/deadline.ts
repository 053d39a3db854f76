// Limits how long a client waits if the engine can be silent: after that, the request fails without it.
import type { Eventually } from '../../db/engine/engine.ts';
import type { ResponseDeadline } from '../../db/store.ts';
import type { Exchange } from './exchange.ts';
import { setStallTolerantTimeout } from './stall-tolerant-timeout.ts';

/**
 * The result of the work on a request, or the engine's error once the client has waited too long. Time that the client
 * takes to send the body, and time that the response waits for room, does not count. The work continues, but begins no
 * write.
 */
export async function withDeadline<T>(
  { ms, tooLate }: ResponseDeadline,
  exchange: Exchange,
  work: Promise<T>,
): Promise<T> {
  const since = performance.now();
  const late = Promise.withResolvers<never>();
  let timer = setStallTolerantTimeout(look, ms);
  function look(): void {
    const leftMs = since + ms + othersMs(exchange) - performance.now();
    if (leftMs > 1) {
      timer = setStallTolerantTimeout(look, leftMs);
      return;
    }
    exchange.givenUp = tooLate();
    late.reject(exchange.givenUp);
  }
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    timer.clear();
  }
}

function othersMs({ waitingSince, waitedMs }: Exchange): number {
  return waitedMs + (waitingSince === null ? 0 : performance.now() - waitingSince);
}

/** Waits for something else than the engine, which does not count towards the deadline. */
export async function offDeadline<T>(exchange: Exchange, work: Eventually<T>): Promise<T> {
  const since = performance.now();
  exchange.waitingSince = since;
  try {
    return await work;
  } finally {
    exchange.waitingSince = null;
    exchange.waitedMs += performance.now() - since;
  }
}
