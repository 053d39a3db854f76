// `--since`: where to begin, as people write it.
import { usageError } from '../errors.ts';
import { isoMilliseconds } from '../input/instant.ts';
import { durationMs } from '../settings/options.ts';

const WORDS = ['now', 'oldest'];

/** The `start` of the feed for `now`, `oldest`, `1h`, a date or a time. */
export function feedStart(since: string, nowMs: number): string {
  if (WORDS.includes(since)) return since;
  const ago = durationMs(since);
  const instant = ago === undefined ? isoMilliseconds(since) : nowMs - ago;
  if (instant !== undefined) return new Date(instant).toISOString();
  throw usageError(
    `--since "${since}" is not a time.`,
    'use now, oldest, a duration like 1h or 7d, a date like 2026-01-31, or a time like 2026-01-31T09:30:00Z.',
  );
}
