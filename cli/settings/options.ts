// Option parsers that several commands share.
import { InvalidArgumentError, Option } from 'commander';

/** Gathers a repeatable option. */
export function collect(value: string, previous: string[] = []): string[] {
  return [...previous, value];
}

/** A list separated by commas, or given in several options. */
export function commaList(value: string, previous?: string): string {
  return previous === undefined ? value : `${previous},${value}`;
}

/** A whole number of at least 1. */
export function count(value: string): number {
  const number = /^\d{1,15}$/.test(value) ? Number(value) : 0;
  if (number < 1) throw new InvalidArgumentError('Use a whole number of at least 1.');
  return number;
}

/** A whole number from 0 to the given maximum. */
export function upTo(max: number): (value: string) => number {
  return (value) => {
    const number = /^\d{1,3}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number <= max)) throw new InvalidArgumentError(`Use a whole number from 0 to ${max}.`);
    return number;
  };
}

// As large as the counts that the threads of a server share can be.
const REQUESTS_MAX = 1_000_000_000;

/** Requests per minute. */
export function requestCount(value: string): number {
  const number = count(value);
  if (number > REQUESTS_MAX) throw new InvalidArgumentError(`Use a whole number from 1 to ${REQUESTS_MAX}.`);
  return number;
}

/** A limit as an option: `default` is the one of the server, because an option's value cannot be null. */
export type RequestLimitOption = number | 'default';

/** Requests per minute, or `default` for the limit of the server. */
export function requestsOrDefault(value: string): RequestLimitOption {
  if (value === 'default') return value;
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError('Use a whole number of at least 1, or default.');
  return requestCount(value);
}

/** How many rows to print by default. */
export const LIMIT_DEFAULT = 20;

/** `--limit`, of a command that has `--all` too; `rows` are what it counts. */
export function limitOption(rows: string, byDefault = LIMIT_DEFAULT): Option {
  const description = `Maximum number of ${rows} (default: ${byDefault})`;
  return new Option('--limit <n>', description).argParser(count).conflicts('all');
}

/** How many rows to print at most. */
export function limitOf(
  { limit, all = false }: { limit?: number; all?: boolean },
  byDefault = LIMIT_DEFAULT,
): number {
  return all ? Number.POSITIVE_INFINITY : (limit ?? byDefault);
}

/** A TCP port; 0 lets the system choose. */
export function port(value: string): number {
  const number = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number <= 65_535)) throw new InvalidArgumentError('Use a port from 0 to 65535.');
  return number;
}

/** The API version, v2 by default. */
export function apiOption(): Option {
  return new Option('--api <version>', 'API version').choices(['v1', 'v2']).default('v2');
}

/** `--where` of commands that query records. */
export function whereOption(): Option {
  const description = "Only records that meet a condition, such as 'status = open'";
  return new Option('--where <condition>', description).argParser((value, previous?: string) => {
    if (previous === undefined) return value;
    throw new InvalidArgumentError('Join the conditions with and, in one --where.');
  });
}

/** `--include` of commands that show records. */
export function includeOption(): Option {
  const description = 'Also show what records refer to or are linked to: company,deals';
  return new Option('--include <a,b>', description).argParser(commaList);
}

/** `--fields` of commands that show or export records. */
export function fieldsOption(): Option {
  const description = 'Only these fields; custom.key for custom fields';
  return new Option('--fields <a,b>', description).argParser(commaList);
}

/** `--org`, for `organizationNamed`. */
export function orgOption(byDefault = 'the only one'): Option {
  return new Option('--org <org>', `Name or ID of the organization (default: ${byDefault})`);
}

/** `--dry-run` of commands that write one record or link. */
export function dryRunOption(): Option {
  return new Option('--dry-run', 'Show the result, and write nothing');
}

// kB is 1,000 bytes, KiB is 1,024.
const BYTE_UNITS: Readonly<Record<string, number>> = {
  ...{ '': 1, B: 1, kB: 1e3, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 },
  ...{ KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 },
};

/** Bytes, as `500kB`, `64MB`, `1.5GB` or `64MiB`. */
export function byteCount(value: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,15}(?:\.\d{1,3})?) ?([A-Za-z]{0,3})$/.exec(value) ?? [];
  const bytes = digits === '' ? Number.NaN : Math.round(Number(digits) * (BYTE_UNITS[unit] ?? Number.NaN));
  if (!Number.isSafeInteger(bytes))
    throw new InvalidArgumentError('Use a size like 500kB, 64MB, 1.5GB or 64MiB.');
  return bytes;
}

const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };

/** A duration of whole seconds in the form that `durationMs` reads; weeks are days. */
export function durationText(ms: number): string {
  const [unit = 's', unitMs = 1_000] = Object.entries(UNITS).find(([, size]) => ms % size === 0) ?? [];
  return `${ms / unitMs}${unit}`;
}

/** Milliseconds of `45s`, `30m`, `12h`, `90d` or `2w`; undefined if the text is not a duration. */
export function durationMs(text: string): number | undefined {
  if (text === '0') return 0;
  if (!/^\d{1,6}[smhdw]$/.test(text)) return undefined;
  const iso = /[dw]$/.test(text) ? `P${text}` : `PT${text}`;
  return Temporal.Duration.from(iso).total({ unit: 'milliseconds', relativeTo: '1970-01-01' });
}
