// Instants: reads ISO 8601 as people type it, and tells how long ago a moment was.
import { instantMs } from '../../db/model/instants.ts';

export const DAY_MS = 86_400_000;

/** Seconds since a moment in Unix milliseconds, to the tenth. */
export function secondsSince(startedMs: number): number {
  return Math.round((Date.now() - startedMs) / 100) / 10;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Unix milliseconds of `2026-03-31` (its beginning, UTC) or `2026-03-31T09:00:00Z`; undefined if it is neither. */
export function isoMilliseconds(text: string): number | undefined {
  if (DAY.test(text)) return instantMs(`${text}T00:00Z`);
  return TIME.test(text) ? instantMs(text) : undefined;
}
