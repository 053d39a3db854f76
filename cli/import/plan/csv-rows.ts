// The rows of a CSV file: header line, faults of rows, and the footer of a report.
import { CliError } from '../../errors.ts';
import {
  type CsvRecord,
  CsvScanner,
  declaredDelimiter,
  headerLineEnd,
  sniffDelimiter,
} from '../../input/csv-reader.ts';
import { counted } from '../../terminal/format.ts';
import type { Rejection, SourceRow } from '../row.ts';

export interface CsvRows {
  readonly headers: readonly string[];
  readonly rows: AsyncGenerator<SourceRow>;
  /** Columns without a header, counted from 1, that contain values. */
  readonly unnamed: ReadonlySet<number>;
}

/** The header line: its titles and their positions. */
interface Header {
  readonly titles: readonly string[];
  /** The indexes of the cells that have a title. */
  readonly places: readonly number[];
  readonly titled: ReadonlySet<number>;
  /** Number of cells up to the last title; spreadsheets add empty ones after it. */
  readonly width: number;
  readonly cells: number;
  readonly unnamed: Set<number>;
}

const HEADER_CHARACTERS_MAX = 1024 * 1024;
const FOOTER_LINES_MAX = 20;
const PEEKED_ROWS = 5;
// A single name with a comma that is not quoted has two.
const TITLED_COLUMNS_MIN = 3;
// Salesforce ends a report with lines of one cell: its name, its author, and these two.
const FOOTER_LINE = /salesforce\.com, inc\.|^Confidential Information - Do Not Distribute$/i;

/** Reads up to the header line; the rest of `text` is read as rows are requested. */
export async function openCsv(begin: string, text: AsyncGenerator<string>, name: string): Promise<CsvRows> {
  const start = await readHeaderLine(begin, text);
  const body = start.trimStart();
  const end = headerLineEnd(body);
  const firstLine = end === -1 ? body : body.slice(0, end);
  const declared = declaredDelimiter(firstLine);
  const scanner = new CsvScanner(declared ?? sniffDelimiter(firstLine), name);
  const records = csvRecords(scanner, start, text);
  if (declared !== undefined) await records.next();
  const header = await records.next();
  if (header.done)
    throw new CliError(`${name} does not have a header line.`, { nextSteps: ['add a header line.'] });
  const named = headerOf(header.value.cells);
  const first: CsvRecord[] = [];
  while (named.width === 1 && first.length < PEEKED_ROWS) {
    const { value, done } = await records.next();
    if (done) break;
    first.push(value);
  }
  refuseTitle(name, header.value, first);
  async function* rest(): AsyncGenerator<CsvRecord> {
    yield* first;
    yield* records;
  }
  return { headers: named.titles, rows: csvRows(rest(), named), unnamed: named.unnamed };
}

/** A report may have a title above its header line, which would make every row wrong. */
function refuseTitle(name: string, { line }: CsvRecord, first: readonly CsvRecord[]): void {
  const wide = first.filter(({ cells }) => cells.length >= TITLED_COLUMNS_MIN);
  const [header] = wide;
  if (header === undefined || wide.length * 2 <= first.length) return;
  throw new CliError(
    `${name} has one column in its header line, line ${line}, but ${header.cells.length} in line ${header.line}.`,
    {
      nextSteps: [
        `if line ${header.line} is the header line, remove the lines above it. Otherwise add the missing headers to line ${line}.`,
      ],
    },
  );
}

async function readHeaderLine(begin: string, text: AsyncGenerator<string>): Promise<string> {
  let start = begin;
  while (headerLineEnd(start.trimStart()) === -1 && start.length < HEADER_CHARACTERS_MAX) {
    const { value, done } = await text.next();
    if (done) break;
    start += value;
  }
  return start;
}

/** All records except blank ones, which spreadsheets write as delimiters only; the header line comes first. */
async function* csvRecords(
  scanner: CsvScanner,
  start: string,
  text: AsyncGenerator<string>,
): AsyncGenerator<CsvRecord> {
  yield* scanner.push(start).filter(isNotBlank);
  for await (const chunk of text) yield* scanner.push(chunk).filter(isNotBlank);
  yield* scanner.end().filter(isNotBlank);
}

function isNotBlank({ cells, fault }: CsvRecord): boolean {
  return fault !== null || !cells.every(isBlank);
}

function isBlank(cell: string): boolean {
  return cell.trim() === '';
}

/** The rows without the footer of a report. */
async function* csvRows(records: AsyncGenerator<CsvRecord>, header: Header): AsyncGenerator<SourceRow> {
  const held: CsvRecord[] = [];
  for await (const record of records) {
    const mayBeFooter = header.width > 1 && record.cells.length === 1 && held.length < FOOTER_LINES_MAX;
    held.push(record);
    if (!mayBeFooter) for (const one of held.splice(0)) yield rowOf(one, header);
  }
  const isFooter = held.some(({ cells }) => FOOTER_LINE.test(cells[0]?.trim() ?? ''));
  if (!isFooter) yield* held.map((record) => rowOf(record, header));
}

function rowOf(record: CsvRecord, header: Header): SourceRow {
  const { titles, places } = header;
  const { line, cells } = record;
  const fault = csvFault(record, header);
  // Without columns that have no header, so that an errors file does not have them.
  const isWhole = fault !== null || isAsTitled(cells, header);
  const original = isWhole ? cells : places.map((place) => cells[place] ?? '');
  const entries = fault === null ? titles.map((title, at) => [title, original[at] ?? ''] as const) : [];
  return { line, entries, original, fault };
}

/** The titles, made unique: the second "Country" becomes "Country (2)". */
function headerOf(cells: readonly string[]): Header {
  const places = [...cells.keys()].filter((index) => !isBlank(cells[index] ?? ''));
  const titles = distinct(places.map((place) => cells[place]?.trim() ?? ''));
  const width = (places.at(-1) ?? -1) + 1;
  return { titles, places, titled: new Set(places), width, cells: cells.length, unnamed: new Set() };
}

function distinct(titles: readonly string[]): string[] {
  const taken = new Set(titles);
  const seen = new Set<string>();
  const next = new Map<string, number>();
  return titles.map((title) => {
    if (!seen.has(title)) {
      seen.add(title);
      return title;
    }
    let number = next.get(title) ?? 2;
    while (taken.has(`${title} (${number})`)) number += 1;
    taken.add(`${title} (${number})`);
    next.set(title, number + 1);
    return `${title} (${number})`;
  });
}

function csvFault({ cells, fault }: CsvRecord, header: Header): Rejection | null {
  if (fault !== null) return formatFault(fault);
  if (isAsTitled(cells, header)) return null;
  const { titled, width } = header;
  if (cells.length < width) return raggedFault(cells.length, width);
  // Spreadsheets leave empty cells in columns without a title.
  const strange = cells.findIndex((cell, index) => !isBlank(cell) && !titled.has(index));
  if (strange === -1) return null;
  if (strange >= header.cells) return raggedFault(cells.findLastIndex((cell) => !isBlank(cell)) + 1, width);
  header.unnamed.add(strange + 1);
  return formatFault(`column ${strange + 1} has a value but no header`);
}

function isAsTitled(cells: readonly string[], { places, width }: Header): boolean {
  return cells.length === width && places.length === width;
}

function raggedFault(count: number, width: number): Rejection {
  const what = count < width ? 'a delimiter or a quote is missing' : 'there is an extra delimiter or quote';
  return formatFault(`the row has ${counted(count, 'column')} but the header line has ${width}: ${what}`);
}

function formatFault(message: string): Rejection {
  return { code: 'VALIDATION_INVALID_FORMAT', path: '', message };
}
