// Opens an input: finds out its format, then gives its rows one at a time.
import { extname } from 'node:path';
import type { Data } from '../../../db/declare/json.ts';
import { CliError, usageError } from '../../errors.ts';
import {
  type CsvRecord,
  CsvScanner,
  declaredDelimiter,
  headerLineEnd,
  sniffDelimiter,
} from '../../input/csv-reader.ts';
import { decodeUtf8 } from '../../input/decode.ts';
import { JsonArrayScanner, type JsonPiece, LineScanner, parseObject } from '../../input/json-pieces.ts';
import { counted } from '../../terminal/format.ts';
import { ERROR_COLUMNS, type Format, type Rejection, type SourceRow, TEXT_COLUMN } from '../row.ts';

export interface RowSource {
  readonly format: Format;
  /** The header line of a CSV file; null where every row names its own fields. */
  readonly headers: readonly string[] | null;
  readonly rows: AsyncGenerator<SourceRow>;
}

const HEADER_CHARACTERS_MAX = 1024 * 1024;

/** The format that a file's name tells, or null. */
export function formatOfName(name: string): Format | null {
  const formats: Record<string, Format> = {
    '.csv': 'csv',
    '.tsv': 'csv',
    '.json': 'json',
    '.ndjson': 'ndjson',
    '.jsonl': 'ndjson',
  };
  return formats[extname(name).toLowerCase()] ?? null;
}

/** Reads as far as format and header line; the rows follow as they are asked for. */
export async function openSource(
  bytes: AsyncIterable<Uint8Array>,
  name: string,
  format: Format | null,
): Promise<RowSource> {
  const text = decodeUtf8(bytes, name);
  const begin = await readWhile(text, (soFar) => soFar.trim() === '');
  // No lines are no records; CSV and JSON have a header line or brackets even then.
  if (begin.trim() === '' && format === 'ndjson') return { format, headers: null, rows: noRows() };
  if (begin.trim() === '') throw new CliError(`${name} is empty.`, { nextSteps: ['check the file.'] });
  const actual = format ?? sniffFormat(begin);
  if (actual === 'csv') return openCsv(begin, text, name);
  const scanner = actual === 'json' ? new JsonArrayScanner(name) : new LineScanner(name);
  return { format: actual, headers: null, rows: jsonRows(scanner, begin, text) };
}

async function* noRows(): AsyncGenerator<SourceRow> {}

async function readWhile(
  text: AsyncGenerator<string>,
  isShort: (soFar: string) => boolean,
  begin = '',
): Promise<string> {
  let soFar = begin;
  while (isShort(soFar)) {
    const { value, done } = await text.next();
    if (done) break;
    soFar += value;
  }
  return soFar;
}

function sniffFormat(begin: string): Format {
  const first = begin.trimStart()[0];
  if (first === '[') return 'json';
  return first === '{' ? 'ndjson' : 'csv';
}

async function openCsv(begin: string, text: AsyncGenerator<string>, name: string): Promise<RowSource> {
  const isHeaderOpen = (soFar: string): boolean =>
    headerLineEnd(soFar.trimStart()) === -1 && soFar.length < HEADER_CHARACTERS_MAX;
  const start = await readWhile(text, isHeaderOpen, begin);
  const body = start.trimStart();
  const end = headerLineEnd(body);
  const firstLine = end === -1 ? body : body.slice(0, end);
  const declared = declaredDelimiter(firstLine);
  const scanner = new CsvScanner(declared ?? sniffDelimiter(firstLine), name);
  const records = csvRecords(scanner, start, text);
  if (declared !== undefined) await records.next();
  const header = await records.next();
  if (header.done) throw new CliError(`${name} has no header line.`, { nextSteps: ['add one.'] });
  const headers = checkedHeaders(header.value.cells, name);
  return { format: 'csv', headers, rows: csvRows(records, headers) };
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

function checkedHeaders(cells: readonly string[], name: string): string[] {
  const headers = cells.map((cell) => cell.trim());
  const unnamed = headers.indexOf('');
  if (unnamed !== -1) {
    throw usageError(`Column ${unnamed + 1} of ${name} has no header.`, 'give it one, or remove the column.');
  }
  const doubled = [...new Set(headers.filter((title, index) => headers.indexOf(title) !== index))];
  if (doubled.length > 0) {
    throw usageError(
      `${name} has ${doubled.length === 1 ? 'a header' : 'headers'} twice: ${doubled.map((title) => `"${title}"`).join(', ')}.`,
      'rename one of each, or remove the column.',
    );
  }
  return headers;
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

async function* jsonRows(
  scanner: JsonArrayScanner | LineScanner,
  begin: string,
  text: AsyncGenerator<string>,
): AsyncGenerator<SourceRow> {
  yield* scanner.push(begin).map(jsonRow);
  for await (const chunk of text) yield* scanner.push(chunk).map(jsonRow);
  yield* scanner.end().map(jsonRow);
}

function jsonRow({ line, text }: JsonPiece): SourceRow {
  const parsed = parseObject(text);
  if (typeof parsed === 'string') {
    const message = `the ${text.startsWith('{') ? 'object' : 'line'} ${parsed}`;
    const fault = { code: 'VALIDATION_INVALID_FORMAT', path: '', message };
    return { line, entries: [], original: text, fault };
  }
  const wrapped = wrappedText(parsed);
  if (wrapped !== undefined) return jsonRow({ line, text: wrapped });
  return { line, entries: Object.entries(parsed), original: parsed, fault: null };
}

/** A line that was no JSON stands as text in an errors file; it counts once it has been corrected there. */
function wrappedText(row: Data): string | undefined {
  const own = Object.keys(row).filter((key) => !(ERROR_COLUMNS as readonly string[]).includes(key));
  const text = row[TEXT_COLUMN];
  return own.length === 1 && typeof text === 'string' ? text : undefined;
}
