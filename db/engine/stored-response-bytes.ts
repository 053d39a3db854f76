// The size of an organization's stored responses, counted in the transaction that stores or deletes them.

import { loadOrganizationState, setOrganizationState } from './organization-state.ts';
import type { Trx } from './schema.ts';
import type { StoredResponseBytes } from './transaction.ts';

/** Default limit of stored responses: 1 GiB. */
export const STORED_RESPONSE_BYTES_MAX = 1024 ** 3;
/** How long a response is kept: 24 hours. */
export const STORED_RESPONSE_KEPT_MS = 24 * 60 * 60 * 1_000;

const HOUR_MS = 60 * 60 * 1_000;
// The operator can raise the limit at any time, so clients should not wait longer than this.
const RETRY_SECONDS_MAX = 3_600;

// Counted by hour, so that expired hours stop counting on their own, even if an older crm deletes their rows.
/** Bytes of the responses of each hour since the epoch, oldest first. */
type Hours = readonly (readonly [hour: number, bytes: number])[];

/** The size of a response that was stored or deleted, with the time it was stored, in Unix milliseconds. */
export interface CountedResponse {
  created_at: number;
  /** Null if it was not counted. */
  stored_bytes: number | null;
}

/** Bytes of the stored responses of an organization. */
export function storedResponseBytes(byHour: string | null, now: number): number {
  return sum(readHours(byHour, now));
}

/** Seconds until there is room for another response; 0 if there is room now. */
export function secondsUntilRoom({ byHour, bytesMax }: StoredResponseBytes, now: number): number {
  const limit = bytesMax ?? STORED_RESPONSE_BYTES_MAX;
  const hours = readHours(byHour, now);
  let bytes = sum(hours);
  if (bytes < limit) return 0;
  for (const [hour, ofHour] of hours) {
    bytes -= ofHour;
    if (bytes < limit) return Math.min(RETRY_SECONDS_MAX, Math.ceil((endOf(hour) - now) / 1_000));
  }
  return RETRY_SECONDS_MAX;
}

/** The same for the organization of a transaction. */
export async function secondsUntilRoomIn(trx: Trx, orgNumber: number, now: number): Promise<number> {
  return secondsUntilRoom((await loadOrganizationState(trx, orgNumber)).answers, now);
}

/** Counts stored responses, or subtracts deleted ones. */
export async function countStoredResponses(
  trx: Trx,
  orgNumber: number,
  answers: readonly CountedResponse[],
  { sign, now }: { sign: 1 | -1; now: number },
): Promise<void> {
  const state = await loadOrganizationState(trx, orgNumber);
  const hours = new Map(readHours(state.answers.byHour, now));
  for (const { created_at, stored_bytes } of answers) {
    const hour = Math.floor(created_at / HOUR_MS);
    const before = hours.get(hour);
    if (stored_bytes === null || (sign < 0 && before === undefined)) continue;
    hours.set(hour, Math.max(0, (before ?? 0) + sign * stored_bytes));
  }
  const counted = [...hours].filter(([, bytes]) => bytes > 0).sort(([a], [b]) => a - b);
  const byHour = counted.length === 0 ? null : JSON.stringify(counted);
  if (byHour !== state.answers.byHour)
    setOrganizationState(trx, state, { answers: { ...state.answers, byHour } });
}

function readHours(byHour: string | null, now: number): Hours {
  if (byHour === null) return [];
  return (JSON.parse(byHour) as Hours).filter(([hour]) => endOf(hour) > now);
}

// When the last response of an hour expires.
function endOf(hour: number): number {
  return (hour + 1) * HOUR_MS + STORED_RESPONSE_KEPT_MS;
}

function sum(hours: Hours): number {
  let total = 0;
  for (const [, bytes] of hours) total += bytes;
  return total;
}
