// `--since`: where to begin.
import { sinceMs } from '../settings/since.ts';

const WORDS = ['now', 'oldest'];

/** The `start` of the feed for `now`, `oldest`, `1h`, a date or a time. @throws CliError for anything else */
export function feedStart(since: string, nowMs: number): string {
  return WORDS.includes(since) ? since : new Date(sinceMs(since, nowMs, WORDS)).toISOString();
}
