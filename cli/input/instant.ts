// Instants: ISO 8601 as people type it on the command line, and how long ago a moment was.

export const DAY_MS = 86_400_000;

/** Seconds since a moment in Unix milliseconds, to the tenth. */
export function secondsSince(startedMs: number): number {
  return Math.round((Date.now() - startedMs) / 100) / 10;
}

const ISO = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** Unix milliseconds of `2026-03-31` (its beginning, UTC) or `2026-03-31T09:00:00Z`; undefined if it is neither. */
export function isoMilliseconds(text: string): number | undefined {
  const day = ISO.exec(text)?.[1];
  if (day === undefined) return undefined;
  const midnight = new Date(`${day}T00:00:00Z`);
  // 30 February is taken for 2 March, or for no date at all.
  if (Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(day)) return undefined;
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}
