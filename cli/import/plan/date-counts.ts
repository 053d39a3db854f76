// Dates that are plain digits: Excel's days, Unix seconds or milliseconds, distinguished by --date-format if needed.
import { instantMs } from '../../../db/model/instants.ts';
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

/** Records one value of a column if it is digits that may count days, seconds or milliseconds. */
export function addDigitEvidence(found: Map<string, string>, header: string, value: unknown): void {
  if (found.has(header) || (typeof value !== 'string' && typeof value !== 'number')) return;
  const text = String(value).trim();
  if (DIGITS.test(text) && isAmbiguous(text)) found.set(header, text);
}

/** The ambiguity of columns whose dates are plain digits. */
export function digitsDoubt(headers: readonly string[], found: ReadonlyMap<string, string>): DateDoubt {
  const named = headers.map((header) => `"${header}" (such as ${found.get(header)})`).join(', ');
  const formats = headers.flatMap((header) => readingsOf(found.get(header) ?? ''));
  const distinct = [...new Set(formats.map(([format]) => format))];
  const [first = ''] = headers.map((header) => found.get(header) ?? '');
  const readings = readingsOf(first).map(([, reading]) => reading);
  return {
    message: `The digits in ${named} are ambiguous: ${first} may be ${orList(readings)}.`,
    formats: distinct,
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
  if (format !== 'excel' && format !== 'unix-s' && !isMilliseconds(value, format)) {
    const readings = readingsOf(value);
    const words = orList(readings.map(([, reading]) => reading));
    const orElse = readings.map(([dateFormat]) => ({ dateFormat }));
    throw new RowFault(
      'VALIDATION_INVALID_FORMAT',
      '',
      `"${value}" may be ${words}; use --date-format to decide`,
      { orElse },
    );
  }
  const ms = msOfCount(value, format ?? 'unix-ms');
  if (Number.isNaN(new Date(ms).getTime()))
    throw fault(`"${value}" is outside the range of dates`, 'OUT_OF_RANGE');
  return ms;
}

function msOfCount(value: string, format: DateFormat): number {
  const count = Number(value);
  if (format === 'unix-s') return Math.round(count * 1000);
  if (format !== 'excel') return count;
  // Excel counts from 31 December 1899 and includes 29 February 1900, which did not exist.
  if (count < 0 || (count >= 60 && count < 61)) return Number.NaN;
  return EXCEL_EPOCH_MS + Math.round((count < 60 ? count + 1 : count) * DAY_MS);
}

/** What a count may mean: the --date-format for it, and the resulting day. */
function readingsOf(digits: string): [format: DateFormat, reading: string][] {
  const dayOf = (format: DateFormat): string | undefined => {
    const date = new Date(msOfCount(digits, format));
    return Number.isNaN(date.getTime()) ? undefined : date.toISOString().slice(0, 10);
  };
  const compact = COMPACT.exec(digits);
  const counts: [DateFormat, string][] = [
    ['excel', "Excel's days"],
    ['unix-s', 'Unix seconds'],
    ['unix-ms', 'Unix milliseconds'],
  ];
  const readings = counts.flatMap(([format, what]): [DateFormat, string][] => {
    const day = dayOf(format);
    return day === undefined || day.startsWith('+') ? [] : [[format, `${what} (${day})`]];
  });
  const day = compact?.slice(1).join('-');
  return day === undefined || instantMs(`${day}T00:00Z`) === undefined
    ? readings
    : [['iso', `the day ${day}`], ...readings];
}

function orList(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

function fault(message: string, kind: 'INVALID_FORMAT' | 'OUT_OF_RANGE' = 'INVALID_FORMAT'): RowFault {
  return new RowFault(`VALIDATION_${kind}`, '', message);
}
