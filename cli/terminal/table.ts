// Tables for people: aligned columns, fitted to the terminal, without control characters.
import type { Data, JsonValue } from '../../db/model/json.ts';
import { isObject } from '../../db/model/json.ts';
import { fitWidths, GAP } from './fit-widths.ts';
import { formatBytes } from './format.ts';
import { neutralize, neutralizeLine } from './text.ts';
import { wrapLines } from './wrap.ts';

/** Fields with a special format for people. */
export interface TableLayout {
  /** Fields in Unix milliseconds, shown as dates. */
  instants?: ReadonlySet<string>;
  /** Fields in bytes, shown as sizes. */
  sizes?: ReadonlySet<string>;
}

export interface TableOptions extends TableLayout {
  columns: readonly string[];
  /** Width in characters; Infinity to cut nothing. */
  width: number;
  isColored: boolean;
}

const CELL_CHARACTERS_MIN = 12;
// Longer values, such as IDs and emails, may be cut.
const WORD_CHARACTERS_MAX = 24;
const TIME = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}$/;

/** Lines of a table, page by page: the first page has the header and decides the widths. */
export class Table {
  readonly #options: TableOptions;
  #widths: number[] | undefined;

  constructor(options: TableOptions) {
    this.#options = options;
  }

  /** The lines of records; with the header the first time. */
  render(records: readonly Data[]): string {
    const { columns, isColored } = this.#options;
    const rows = records.map((record) =>
      columns.map((name) =>
        neutralizeLine(toTheMinute(cellText(valueAt(record, name), name, this.#options))),
      ),
    );
    const header = columns.map((name) => name.toUpperCase());
    const isFirst = this.#widths === undefined;
    const widths = this.#widths ?? widthsOf(columns, [header, ...rows], this.#options.width);
    this.#widths = widths;
    const lines = rows.map((row) => this.#line(row, widths));
    if (isFirst)
      lines.unshift(
        isColored ? `\u001b[1m${this.#line(header, widths)}\u001b[22m` : this.#line(header, widths),
      );
    return lines.map((line) => `${line}\n`).join('');
  }

  #line(cells: readonly string[], widths: readonly number[]): string {
    const fitted = widths.map((width, index) => {
      const cell = cells[index] ?? '';
      const text = this.#options.width === Number.POSITIVE_INFINITY ? cell : truncate(cell, width);
      return text + ' '.repeat(Math.max(0, width - Bun.stringWidth(text)));
    });
    return fitted.join(GAP).trimEnd();
  }
}

/** One complete record, one field per line. */
export function renderRecord(
  record: Data,
  options: TableLayout & { fields: readonly string[]; isColored: boolean; columns?: number },
): string {
  const { columns = Number.POSITIVE_INFINITY } = options;
  const width = Math.max(0, ...options.fields.map((name) => Bun.stringWidth(name)));
  const room = Math.max(CELL_CHARACTERS_MIN, columns - width - GAP.length);
  const indent = `\n${' '.repeat(width)}${GAP}`;
  const lines = options.fields.map((name) => {
    const value = neutralize(cellText(valueAt(record, name), name, options));
    const text = wrapLines(value, room).replaceAll('\n', indent);
    const label = neutralizeLine(name).padEnd(width);
    return `${options.isColored ? `\u001b[1m${label}\u001b[22m` : label}${GAP}${text}`.trimEnd();
  });
  return lines.map((line) => `${line}\n`).join('');
}

/** The value of a field, or of a key of `custom` (`custom.key`). */
export function valueAt(record: Data, name: string): JsonValue | undefined {
  if (Object.hasOwn(record, name)) return record[name];
  const dot = name.indexOf('.');
  if (dot < 0) return undefined;
  const parent = record[name.slice(0, dot)];
  const key = name.slice(dot + 1);
  return isObject(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined;
}

/** A value in words, on any number of lines. */
export function cellText(
  value: JsonValue | undefined,
  name: string,
  { instants, sizes }: TableLayout,
): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' && instants?.has(name)) return new Date(value).toISOString();
  if (typeof value === 'number' && sizes?.has(name)) return formatBytes(value);
  if (typeof value !== 'object') return String(value);
  const entries = Object.entries(value);
  if (entries.some(([, entry]) => typeof entry === 'object' && entry !== null)) return JSON.stringify(value);
  if (Array.isArray(value)) return value.join(', ');
  return entries.map(([key, entry]) => `${key}: ${entry ?? ''}`).join(', ');
}

/** A time of the service without its seconds, which only take space on a line; any other text unchanged. */
export function toTheMinute(text: string): string {
  return text.replace(/^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}):\d{2}\.\d{3}Z$/, '$1 $2');
}

/** Widths that fit the line; IDs, times and words are not cut. */
function widthsOf(columns: readonly string[], rows: readonly string[][], width: number): number[] {
  const natural = columns.map((_, index) =>
    Math.max(0, ...rows.map((row) => Bun.stringWidth(row[index] ?? ''))),
  );
  const least = columns.map((name, index) => {
    if (name === 'id') return natural[index] ?? 0;
    const wordMax = Math.max(CELL_CHARACTERS_MIN, ...rows.map((row) => longestWord(row[index] ?? '')));
    return Math.min(natural[index] ?? 0, wordMax);
  });
  return fitWidths(natural, least, width);
}

// The longest word that must not be cut; a time counts as one.
function longestWord(text: string): number {
  if (TIME.test(text)) return text.length;
  const words = text.split(' ').map((word) => Bun.stringWidth(word));
  return Math.max(0, ...words.filter((word) => word <= WORD_CHARACTERS_MAX));
}

/** Text that is cut at its end to fit, between words if that keeps most of it. */
export function truncate(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text;
  let cut = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (Bun.stringWidth(cut + segment) > width - 1) break;
    cut += segment;
  }
  // Between words, if that keeps most of the text.
  const end = cut.lastIndexOf(' ');
  const isWithinWord = text[cut.length] !== ' ' && end > cut.length / 2;
  return `${isWithinWord ? cut.slice(0, end) : cut}…`;
}
