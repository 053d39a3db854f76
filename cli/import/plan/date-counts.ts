// Dates that are plain digits: Excel's days, Unix seconds or milliseconds, told apart by --date-format where they must be.
import { instantMs } from '../../../db/model/instants.ts';
import { DAY_MS } from '../../input/instant.ts';
import type { ImportFlags } from '../flags.ts';
import { RowFault } from '../row.ts';

export type DateFormat = NonNullable<ImportFlags['dateFormat']>;

/** What is not certain about the dates of some columns, and the --date-format that would settle it. */
export interface DateDoubt {
  message: string;
  formats: readonly DateFormat[];
}

const COMPACT = /^(\d{4})(\d{2})(\d{2})$/;
const DIGITS = /^-?\d+(?:\.\d+)?$/;
// Below, milliseconds would lie before March 1973, where seconds or Excel's days are the likelier meaning.
const CERTAIN_MS = 100_000_000_000;
const EXCEL_EPOCH_MS = Date.UTC(1899, 11, 30);

/** Takes in one value of a column; anything but digits that may count days, seconds or milliseconds is no evidence. */
export function weighDigits(found: Map<string, string>, header: string, value: unknown): void {
  if (found.has(header) || (typeof value !== 'string' && typeof value !== 'number')) return;
  const text = String(value).trim();
  if (DIGITS.test(text) && isAmbiguous(text)) found.set(header, text);
}

/** The doubt about columns whose dates are plain digits. */
export function digitsDoubt(headers: readonly string[], found: ReadonlyMap<string, string>): DateDoubt {
  const named = headers.map((header) => `"${header}" (such as ${found.get(header)})`).join(', ');
  const formats = headers.flatMap((header) => readingsOf(found.get(header) ?? ''));
  const distinct = [...new Set(formats.map(([format]) => format))];
  const [first = ''] = headers.map((header) => found.get(header) ?? '');
  const readings = readingsOf(first).map(([, reading]) => reading);
  return {
    message: `What do the digits of ${named} count? ${first} may be ${orList(readings)}.`,
    formats: distinct,
  };
}

/** Whether a date is plain digits that count something. */
export function isCount(value: string, format: DateFormat | null): boolean {
  return DIGITS.test(value) && !(format === 'iso' && COMPACT.test(value));
}

/** Whether digits can only be Unix milliseconds, or are said to be. */
export function isMilliseconds(digits: string, format: DateFormat | null): boolean {
  return format === 'unix-ms' || (format !== 'excel' && format !== 'unix-s' && !isAmbiguous(digits));
}

function isAmbiguous(digits: string): boolean {
  return Math.abs(Number(digits)) < CERTAIN_MS || digits.includes('.');
}

/** The instant that digits count up to, in Unix milliseconds; throws a RowFault where they may count several things. */
export function countedMs(value: string, format: DateFormat | null): number {
  if (format !== 'excel' && format !== 'unix-s' && !isMilliseconds(value, format)) {
    const readings = readingsOf(value);
    const words = orList(readings.map(([, reading]) => reading));
    const orElse = readings.map(([dateFormat]) => ({ dateFormat }));
    throw new RowFault(
      'VALIDATION_INVALID_FORMAT',
      '',
      `"${value}" may be ${words}; say which with --date-format`,
      { orElse },
    );
  }
  const ms = msOfCount(value, format ?? 'unix-ms');
  if (Number.isNaN(new Date(ms).getTime())) throw fault(`"${value}" is beyond any date`, 'OUT_OF_RANGE');
  return ms;
}

function msOfCount(value: string, format: DateFormat): number {
  const count = Number(value);
  if (format === 'unix-s') return Math.round(count * 1000);
  if (format !== 'excel') return count;
  // Excel counts from 31 December 1899 and has a 29 February 1900, which there was not.
  if (count < 0 || (count >= 60 && count < 61)) return Number.NaN;
  return EXCEL_EPOCH_MS + Math.round((count < 60 ? count + 1 : count) * DAY_MS);
}

/** What a count may mean: the --date-format that says so, and the day that it would be. */
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
