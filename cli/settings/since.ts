// A time, as people write it in flags such as `--since` and in filters.
import { usageError } from '../errors.ts';
import { DAY_MS, isoMilliseconds } from '../input/instant.ts';
import { durationMs } from './options.ts';

const DAY_WORDS: Readonly<Record<string, number>> = { yesterday: -1, today: 0, tomorrow: 1 };
const AHEAD = /^ahead +/;

/** The day that `yesterday`, `today` or `tomorrow` means, as YYYY-MM-DD in UTC; undefined for other words. */
export function dayOfWord(text: string, nowMs: number): string | undefined {
  const days = Object.hasOwn(DAY_WORDS, text) ? DAY_WORDS[text] : undefined;
  if (days === undefined) return undefined;
  return new Date(nowMs + days * DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

/**
 * Unix milliseconds of `2h` (that long before `nowMs`), `ahead 2h`, `yesterday`, a date (its beginning, UTC) or a time.
 * @param words what else the flag takes, for the error
 * @throws CliError with the usage code if the text is none of these
 */
export function sinceMs(text: string, nowMs: number, words: readonly string[] = []): number {
  const span = durationMs(text.replace(AHEAD, ''));
  const ms =
    span === undefined
      ? isoMilliseconds(dayOfWord(text, nowMs) ?? text)
      : nowMs + (AHEAD.test(text) ? span : -span);
  if (ms !== undefined) return ms;
  const choices = [...words, 'a format like 2h, 7d, yesterday, 2027-01-31 or 2027-01-31T09:00:00Z'].join(
    ', ',
  );
  throw usageError(`"${text}" is not a valid time.`, `use ${choices}.`);
}
