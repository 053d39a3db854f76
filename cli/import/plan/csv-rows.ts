// The rows of a CSV file: its header line, what is wrong with a row, and the footer that a report ends with.
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
  /** Columns without a header, counted from 1, that have turned out to hold values. */
  readonly unnamed: ReadonlySet<number>;
}

/** The header line: its titles, and where each stands. */
interface Header {
  readonly titles: readonly string[];
  /** The indexes of the cells that have a title. */
  readonly places: readonly number[];
  readonly titled: ReadonlySet<number>;
  /** How many cells there are up to the last title; spreadsheets leave empty ones behind it. */
  readonly width: number;
  readonly cells: number;
  readonly unnamed: Set<number>;
}

const HEADER_CHARACTERS_MAX = 1024 * 1024;
const FOOTER_LINES_MAX = 20;
// Below a report Salesforce writes lines of one cell: its name, who made it, and these two.
const FOOTER_LINE = /salesforce\.com, inc\.|^Confidential Information - Do Not Distribute$/i;

/** Reads as far as the header line; `text` is read on as rows are asked for. */
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
  if (header.done) throw new CliError(`${name} has no header line.`, { nextSteps: ['add one.'] });
  const named = headerOf(header.value.cells);
  const { titles, unnamed, width } = named;
  return { headers: titles, rows: csvRows(withoutFooter(records, width), named), unnamed };
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

/** All records but blank ones, which spreadsheets write as delimiters alone; the header line first. */
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

async function* withoutFooter(records: AsyncGenerator<CsvRecord>, width: number): AsyncGenerator<CsvRecord> {
  const held: CsvRecord[] = [];
  for await (const record of records) {
    if (width > 1 && record.cells.length === 1 && held.length < FOOTER_LINES_MAX) {
      held.push(record);
      continue;
    }
    yield* held.splice(0);
    yield record;
  }
  if (!held.some(({ cells }) => FOOTER_LINE.test(cells[0]?.trim() ?? ''))) yield* held;
}

async function* csvRows(records: AsyncGenerator<CsvRecord>, header: Header): AsyncGenerator<SourceRow> {
  const { titles, places } = header;
  for await (const record of records) {
    const { line, cells } = record;
    const fault = csvFault(record, header);
    // Without the columns that the header line does not name, so that an errors file has none.
    const isWhole = fault !== null || isAsTitled(cells, header);
    const own = isWhole ? cells : places.map((place) => cells[place] ?? '');
    yield {
      line,
      entries: fault === null ? titles.map((title, at) => [title, own[at] ?? ''] as const) : [],
      original: own,
      fault,
    };
  }
}

/** The titles, of which no two are the same: of two called "Country" the second becomes "Country (2)". */
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
  // A spreadsheet leaves empty cells wherever there is no title.
  const strange = cells.findIndex((cell, index) => !isBlank(cell) && !titled.has(index));
  if (strange === -1) return null;
  if (strange >= header.cells) return raggedFault(cells.findLastIndex((cell) => !isBlank(cell)) + 1, width);
  header.unnamed.add(strange + 1);
  return formatFault(`column ${strange + 1} has a value here, but no header`);
}

function isAsTitled(cells: readonly string[], { places, width }: Header): boolean {
  return cells.length === width && places.length === width;
}

function raggedFault(count: number, width: number): Rejection {
  const what = `a delimiter or a quote is ${count < width ? 'missing' : 'too many'}`;
  return formatFault(`the row has ${counted(count, 'column')}, the header line has ${width}; ${what}`);
}

function formatFault(message: string): Rejection {
  return { code: 'VALIDATION_INVALID_FORMAT', path: '', message };
}
