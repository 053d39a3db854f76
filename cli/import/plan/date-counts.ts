// Dates that are plain digits: Excel's days, Unix seconds or milliseconds, distinguished by --date-format if needed.

import { instantMs } from '../../../db/model/instants.ts';
import { clip, joinWithOr } from '../../../db/model/text.ts';
import { DAY_MS } from '../../input/instant.ts';
import type { ImportFlags } from '../flags.ts';
import { RowFault } from '../row.ts';

export type DateFormat = NonNullable<ImportFlags['dateFormat']>;

/** What is ambiguous about the dates of some columns, and the --date-format values that would decide it. */
export interface DateDoubt {
  message: string;
  formats: readonly DateFormat[];
}

const COMPACT = /^(\d{4})(\d{2})(\d{2})$/;
const DIGITS = /^-?\d+(?:\.\d+)?$/;
// Smaller milliseconds are before March 1973, so seconds or Excel's days are more likely.
const CERTAIN_MS = 100_000_000_000;
const EXCEL_EPOCH_MS = Date.UTC(1899, 11, 30);
const COUNTS = [
  ['excel', "Excel's days"],
  ['unix-s', 'Unix seconds'],
  ['unix-ms', 'Unix milliseconds'],
] as const;

/** Records one value of a column if it is digits that may count days, seconds or milliseconds. */
export function addDigitEvidence(found: Map<string, string>, header: string, value: unknown): void {
  if (found.has(header) || (typeof value !== 'string' && typeof value !== 'number')) return;
  const text = String(value).trim();
  if (DIGITS.test(text) && isAmbiguous(text)) found.set(header, text);
}

/** The ambiguity of columns whose dates are plain digits. */
export function digitsDoubt(headers: readonly string[], found: ReadonlyMap<string, string>): DateDoubt {
  const examples = headers.map((header) => found.get(header) ?? '');
  const named = headers.map((header, index) => `"${header}" (such as ${examples[index]})`).join(', ');
  const formats = examples.flatMap((digits) => readingsOf(digits).map(([format]) => format));
  return {
    message: `The digits in ${named} are ambiguous: ${examples[0]} may be ${meanings(examples[0] ?? '')}.`,
    formats: [...new Set(formats)],
  };
}

/** Whether a date is plain digits that count units of time. */
export function isCount(value: string, format: DateFormat | null): boolean {
  return DIGITS.test(value) && !(format === 'iso' && COMPACT.test(value));
}

/** Whether digits can only be Unix milliseconds, or --date-format says so. */
export function isMilliseconds(digits: string, format: DateFormat | null): boolean {
  return format === 'unix-ms' || (format !== 'excel' && format !== 'unix-s' && !isAmbiguous(digits));
}

function isAmbiguous(digits: string): boolean {
  return Math.abs(Number(digits)) < CERTAIN_MS || digits.includes('.');
}

/** The instant that digits mean, in Unix milliseconds; throws a RowFault if they are ambiguous. */
export function countedMs(value: string, format: DateFormat | null): number {
  const isUnit = COUNTS.some(([unit]) => unit === format);
  if (!isUnit && isAmbiguous(value)) {
    const message = `"${clip(value)}" may be ${meanings(value)}; use --date-format to decide`;
    const orElse = readingsOf(value).map(([dateFormat]) => ({ dateFormat }));
    throw new RowFault('VALIDATION_INVALID_FORMAT', '', message, { orElse });
  }
  const ms = msOfCount(value, format ?? 'unix-ms');
  if (isInstant(ms)) return ms;
  throw new RowFault('VALIDATION_OUT_OF_RANGE', '', `"${clip(value)}" is outside the range of dates`);
}

function msOfCount(value: string, format: DateFormat): number {
  const count = Number(value);
  if (format === 'unix-s') return Math.round(count * 1000);
  if (format !== 'excel') return count;
  // Excel counts from 31 December 1899 and includes 29 February 1900, which did not exist.
  if (count < 0 || (count >= 60 && count < 61)) return Number.NaN;
  return EXCEL_EPOCH_MS + Math.round((count < 60 ? count + 1 : count) * DAY_MS);
}

function isInstant(ms: number): boolean {
  return !Number.isNaN(new Date(ms).getTime());
}

/** What digits may mean: the --date-format for it, and the resulting day. */
function readingsOf(digits: string): [format: DateFormat, reading: string][] {
  const readings = COUNTS.flatMap(([format, what]): [DateFormat, string][] => {
    const ms = msOfCount(digits, format);
    const day = isInstant(ms) ? new Date(ms).toISOString().slice(0, 10) : '+';
    return day.startsWith('+') ? [] : [[format, `${what} (${day})`]];
  });
  const day = COMPACT.exec(digits)?.slice(1).join('-');
  if (instantMs(`${day}T00:00Z`) !== undefined) readings.unshift(['iso', `the day ${day}`]);
  return readings;
}

function meanings(digits: string): string {
  return joinWithOr(readingsOf(digits).map(([, reading]) => reading));
}
