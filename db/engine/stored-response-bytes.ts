// What the stored answers of an organization take: counted in the transaction that stores or deletes them.
import type { AnswerBytes } from './engine.ts';
import { changeState, knownState } from './organization-state.ts';
import type { Db } from './schema.ts';

/** What they may take unless the operator says otherwise: 1 GiB. */
export const ANSWER_BYTES_MAX = 1024 ** 3;
/** How long an answer is kept: 24 hours. */
export const ANSWER_KEPT_MS = 24 * 60 * 60 * 1_000;

const HOUR_MS = 60 * 60 * 1_000;
// The operator may raise the budget at any time, and so it is looked at again.
const RETRY_SECONDS_MAX = 3_600;

// So an hour that is over for long enough counts no more, whoever deletes its answers, and an older crm does not count.
/** Bytes of the answers of each hour since the epoch, oldest first. */
type Hours = readonly (readonly [hour: number, bytes: number])[];

/** What an answer takes that was stored, or deleted, with the instant at which it was stored, in Unix milliseconds. */
export interface CountedAnswer {
  created_at: number;
  /** Null for one that was not counted. */
  stored_bytes: number | null;
}

/** How many bytes the stored answers of an organization take. */
export function answerBytes(byHour: string | null, now: number): number {
  return sum(readHours(byHour, now));
}

/** In how many seconds there will be room for another answer; 0 where there is room now. */
export function secondsUntilRoom({ byHour, bytesMax }: AnswerBytes, now: number): number {
  const limit = bytesMax ?? ANSWER_BYTES_MAX;
  const hours = readHours(byHour, now);
  let bytes = sum(hours);
  if (bytes < limit) return 0;
  for (const [hour, ofHour] of hours) {
    bytes -= ofHour;
    if (bytes < limit) return Math.min(RETRY_SECONDS_MAX, Math.ceil((endOf(hour) - now) / 1_000));
  }
  return RETRY_SECONDS_MAX;
}

/** In how many seconds the organization will have room for another answer, as the transaction knows it; 0 for now. */
export async function secondsUntilRoomIn(trx: Db, orgId: number, now: number): Promise<number> {
  return secondsUntilRoom((await knownState(trx, orgId)).answers, now);
}

/** Counts answers that were stored, or takes back those that were deleted. */
export async function countAnswers(
  trx: Db,
  orgId: number,
  answers: readonly CountedAnswer[],
  { sign, now }: { sign: 1 | -1; now: number },
): Promise<void> {
  const state = await knownState(trx, orgId);
  const hours = new Map(readHours(state.answers.byHour, now));
  for (const { created_at, stored_bytes } of answers) {
    const hour = Math.floor(created_at / HOUR_MS);
    const before = hours.get(hour);
    if (stored_bytes === null || (sign < 0 && before === undefined)) continue;
    hours.set(hour, Math.max(0, (before ?? 0) + sign * stored_bytes));
  }
  const counted = [...hours].filter(([, bytes]) => bytes > 0).sort(([a], [b]) => a - b);
  const byHour = counted.length === 0 ? null : JSON.stringify(counted);
  if (byHour !== state.answers.byHour) changeState(trx, state, { answers: { ...state.answers, byHour } });
}

function readHours(byHour: string | null, now: number): Hours {
  if (byHour === null) return [];
  return (JSON.parse(byHour) as Hours).filter(([hour]) => endOf(hour) > now);
}

// When the last answer of an hour has expired.
function endOf(hour: number): number {
  return (hour + 1) * HOUR_MS + ANSWER_KEPT_MS;
}

function sum(hours: Hours): number {
  let total = 0;
  for (const [, bytes] of hours) total += bytes;
  return total;
}
