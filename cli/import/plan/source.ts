// Opens an input: detects its format, then returns its rows one at a time.
import { extname } from 'node:path';
import type { Data } from '../../../db/model/json.ts';
import { CliError } from '../../errors.ts';
import { decodeText } from '../../input/decode.ts';
import { JsonArrayScanner, LineScanner, parseObject, type TextPiece } from '../../input/json-pieces.ts';
import { isVCard, VCardScanner } from '../../input/vcards.ts';
import { ERROR_COLUMNS, type Format, type SourceRow, TEXT_COLUMN } from '../row.ts';
import { openCsv } from './csv-rows.ts';
import { vCardRow } from './vcard-rows.ts';

/** What the command line says about an input. */
export interface InputForm {
  format: Format | null;
  encoding: string | null;
}

export interface RowSource {
  readonly format: Format;
  /** The header line of a CSV file; null if every row has its own field names. */
  readonly headers: readonly string[] | null;
  readonly rows: AsyncGenerator<SourceRow>;
  /** Columns of a CSV file without a header, counted from 1, that had values so far. */
  readonly unnamed?: ReadonlySet<number>;
  /** How many vCards were groups so far, which are not rows. */
  readonly groups?: () => number;
}

const FORMATS: Readonly<Record<string, Format>> = {
  '.csv': 'csv',
  '.tsv': 'csv',
  '.json': 'json',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.vcf': 'vcf',
  '.vcard': 'vcf',
};

/** The format for a file name, or null. */
export function formatOfName(name: string): Format | null {
  return FORMATS[extname(name).toLowerCase()] ?? null;
}

/** Reads the format and the header line; rows are read as they are requested. */
export async function openSource(
  bytes: AsyncIterable<Uint8Array>,
  name: string,
  { format, encoding }: InputForm,
): Promise<RowSource> {
  const text = decodeText(bytes, name, encoding);
  const begin = await readBegin(text);
  // Empty NDJSON or lines mean no records, but CSV and JSON always have a header line or brackets.
  if (begin === '' && format !== 'ndjson' && format !== 'lines') {
    throw new CliError(`${name} is empty.`, { nextSteps: ['check the file.'] });
  }
  // A vCard file stays one, whatever its name and first character.
  const actual = isVCard(begin) ? 'vcf' : (format ?? sniffFormat(begin));
  if (actual === 'csv') return { format: actual, ...(await openCsv(begin, text, name)) };
  const [scanner, toRow] = scannerOf(
    actual === 'lines' && begin.trimStart().startsWith('[') ? 'json' : actual,
    name,
  );
  let groups = 0;
  const toRows = (piece: TextPiece): SourceRow[] => {
    const row = toRow(piece);
    if (row !== null) return [row];
    groups += 1;
    return [];
  };
  const rows = rowsOf(scanner, toRows, begin, text);
  return { format: actual, headers: null, rows, groups: () => groups };
}

/** The text up to the first piece that is not blank; '' if all are. */
async function readBegin(text: AsyncGenerator<string>): Promise<string> {
  let begin = '';
  for (let next = await text.next(); !next.done; next = await text.next()) {
    begin += next.value;
    if (begin.trim() !== '') return begin;
  }
  return '';
}

function sniffFormat(begin: string): Format {
  const first = begin.trimStart()[0];
  if (first === '[') return 'json';
  return first === '{' ? 'ndjson' : 'csv';
}

/** Null for a vCard that is a group. */
type ToRow = (piece: TextPiece) => SourceRow | null;

interface PieceScanner {
  push(text: string): TextPiece[];
  end(): TextPiece[];
}

function scannerOf(format: Exclude<Format, 'csv'>, name: string): [scanner: PieceScanner, toRow: ToRow] {
  if (format === 'vcf') return [new VCardScanner(name), vCardRow];
  if (format === 'lines') return [new LineScanner(name), lineRow];
  return [format === 'json' ? new JsonArrayScanner(name) : new LineScanner(name), jsonRow];
}

/** A line with an object, or with an ID, which may be quoted as in JSON. */
function lineRow(piece: TextPiece): SourceRow | null {
  if (piece.text.startsWith('{')) return jsonRow(piece);
  const id = piece.text.replace(/^"(.*)"$/, '$1');
  return { line: piece.line, entries: [['id', id]], original: { id }, fault: null };
}

async function* rowsOf(
  scanner: PieceScanner,
  toRows: (piece: TextPiece) => SourceRow[],
  begin: string,
  text: AsyncGenerator<string>,
): AsyncGenerator<SourceRow> {
  yield* scanner.push(begin).flatMap(toRows);
  for await (const chunk of text) yield* scanner.push(chunk).flatMap(toRows);
  yield* scanner.end().flatMap(toRows);
}

function jsonRow({ line, text }: TextPiece): SourceRow | null {
  const parsed = parseObject(text);
  if (typeof parsed === 'string') {
    const message = `the ${text.startsWith('{') ? 'object' : 'line'} ${parsed}`;
    const fault = { code: 'VALIDATION_INVALID_FORMAT', path: '', message };
    return { line, entries: [], original: text, fault };
  }
  const wrapped = wrappedText(parsed);
  if (wrapped !== undefined) return (isVCard(wrapped) ? vCardRow : jsonRow)({ line, text: wrapped });
  return { line, entries: Object.entries(parsed), original: parsed, fault: null };
}

/** An errors file contains invalid JSON lines and cards as text; they count once they are corrected there. */
function wrappedText(row: Data): string | undefined {
  const own = Object.keys(row).filter((key) => !(ERROR_COLUMNS as readonly string[]).includes(key));
  const text = row[TEXT_COLUMN];
  return own.length === 1 && typeof text === 'string' ? text : undefined;
}
