// How long a client is kept waiting: an engine that can be silent has a limit, after which a request is answered without it.
import type { Patience } from '../../db/store.ts';
import type { Exchange } from './exchange.ts';

/**
 * What the work on a request gives, or the engine's error once the client has waited too long for it; the time that the
 * client itself takes to send the body does not count, nor that for which its answer waits for room. The work goes on, but begins no write any more.
 */
export async function whilePatient<T>(
  { ms, tooLate }: Patience,
  exchange: Exchange,
  work: Promise<T>,
): Promise<T> {
  const since = performance.now();
  const late = Promise.withResolvers<never>();
  let timer = setTimeout(look, ms);
  function look(): void {
    const leftMs = since + ms + othersMs(exchange) - performance.now();
    if (leftMs > 1) {
      timer = setTimeout(look, leftMs);
      return;
    }
    exchange.givenUp = tooLate();
    late.reject(exchange.givenUp);
  }
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function othersMs({ bodySince, bodyUntil, heldUpSince, heldUpMs }: Exchange): number {
  const now = performance.now();
  const sendingMs = bodySince === null ? 0 : (bodyUntil ?? now) - bodySince;
  return sendingMs + heldUpMs + (heldUpSince === null ? 0 : now - heldUpSince);
}
