// The rows of a CSV file: its header line, what is wrong with a row, and the footer that a report ends with.
import { CliError, usageError } from '../../errors.ts';
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
  const headers = namedHeaders(header.value.cells, name);
  return { headers, rows: csvRows(withoutFooter(records, headers.length), headers) };
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

/** All records but blank lines, the header line first. */
async function* csvRecords(
  scanner: CsvScanner,
  start: string,
  text: AsyncGenerator<string>,
): AsyncGenerator<CsvRecord> {
  yield* scanner.push(start).filter(isNotBlank);
  for await (const chunk of text) yield* scanner.push(chunk).filter(isNotBlank);
  yield* scanner.end().filter(isNotBlank);
}

function isNotBlank({ cells }: CsvRecord): boolean {
  return cells.length > 1 || cells[0] !== '';
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

async function* csvRows(
  records: AsyncGenerator<CsvRecord>,
  headers: readonly string[],
): AsyncGenerator<SourceRow> {
  for await (const record of records) {
    yield {
      line: record.line,
      entries: headers.map((title, index) => [title, record.cells[index] ?? ''] as const),
      original: record.cells,
      fault: csvFault(record, headers.length),
    };
  }
}

/** The titles, of which no two are the same: of two called "Country" the second becomes "Country (2)". */
function namedHeaders(cells: readonly string[], name: string): string[] {
  const titles = cells.map((cell) => cell.trim());
  const unnamed = titles.flatMap((title, index) => (title === '' ? [index + 1] : []));
  if (unnamed.length > 0) {
    throw usageError(
      `${name} has ${counted(unnamed.length, 'column')} without a header: the ${unnamed.map((at) => `${at}.`).join(', ')}.`,
      'give each one, or remove it.',
    );
  }
  const taken = new Set(titles);
  const seen = new Set<string>();
  return titles.map((title) => {
    if (!seen.has(title)) {
      seen.add(title);
      return title;
    }
    let number = 2;
    while (taken.has(`${title} (${number})`)) number += 1;
    taken.add(`${title} (${number})`);
    return `${title} (${number})`;
  });
}

function csvFault(record: CsvRecord, expected: number): Rejection | null {
  if (record.fault !== null) return { code: 'VALIDATION_INVALID_FORMAT', path: '', message: record.fault };
  const count = record.cells.length;
  if (count === expected) return null;
  return {
    code: 'VALIDATION_INVALID_FORMAT',
    path: '',
    message: `the row has ${counted(count, 'column')}, the header line has ${expected}; a delimiter or a quote is ${count < expected ? 'missing' : 'too many'}`,
  };
}
