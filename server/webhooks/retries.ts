// When a delivery that failed is tried again.
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const DELAYS_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];
// So that changes that failed together do not all come back together.
const SPREAD = 0.1;
const RETRY_AFTER_MS_MAX = DAY_MS;

/** How often a change is sent at most. */
export const ATTEMPTS_MAX = DELAYS_MS.length + 1;

/**
 * How long after a failed attempt the next one begins, in milliseconds; null if it was the last.
 * @param attempt the number of the failed attempt, from 1
 * @param retryAfterMs how long the receiver asked to wait; at least that, up to a day
 * @param random from 0 up to 1
 */
export function retryDelayMs(attempt: number, retryAfterMs: number | null, random: number): number | null {
  const delay = DELAYS_MS[attempt - 1];
  if (delay === undefined) return null;
  const spread = Math.round(delay * (1 + SPREAD * (2 * random - 1)));
  return Math.max(spread, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MS_MAX));
}

/**
 * What a Retry-After header asks for, in milliseconds from now; null if it is not valid.
 * @param now Unix milliseconds
 */
export function readRetryAfter(value: string | null, now: number): number | null {
  if (value === null) return null;
  const text = value.trim();
  if (/^\d+$/.test(text)) return Number(text) * SECOND_MS;
  const at = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
