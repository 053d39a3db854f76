// How long to wait before a request is sent again.
import type { Wait } from '../terminal/wait-reasons.ts';

const SECONDS_FIRST = 0.5;
const SECONDS_MAX = 16;

/** How long to wait after an attempt that failed, and why. */
export function waitAfter(outcome: Response | Error, tries: number): Wait {
  if (outcome instanceof Error) return { seconds: backoffSeconds(tries), reason: 'connection' };
  if (outcome.status === 429) return { seconds: retryAfterSeconds(outcome), reason: 'rate limit' };
  return { seconds: backoffSeconds(tries), reason: outcome.status === 503 ? 'unavailable' : 'server error' };
}

function retryAfterSeconds(response: Response): number {
  const header = response.headers.get('retry-after') ?? '';
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(1, Math.ceil(seconds)) : 1;
}

function backoffSeconds(tries: number): number {
  const ceiling = Math.min(SECONDS_MAX, SECONDS_FIRST * 2 ** (tries - 1));
  return ceiling * (0.5 + Math.random() / 2);
}
