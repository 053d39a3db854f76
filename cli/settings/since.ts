// A time in the past, as people write it in flags such as `--since`.
import { usageError } from '../errors.ts';
import { isoMilliseconds } from '../input/instant.ts';
import { durationMs } from './options.ts';

/**
 * Unix milliseconds of `2h` (that long before `nowMs`), a date (its beginning, UTC) or a time.
 * @param words what else the flag takes, for the error
 * @throws CliError with the usage code if the text is none of these
 */
export function sinceMs(text: string, nowMs: number, words: readonly string[] = []): number {
  const duration = durationMs(text);
  const ms = duration === undefined ? isoMilliseconds(text) : nowMs - duration;
  if (ms !== undefined) return ms;
  const choices = [...words, 'a format like 2h, 7d, 2027-01-31 or 2027-01-31T09:00:00Z'].join(', ');
  throw usageError(`"${text}" is not a valid time.`, `use ${choices}.`);
}
