// Writes CSV according to RFC 4180, with line feeds; nested values become JSON text.
import type { JsonValue } from '../../db/model/json.ts';

// Full-width signs count like plain ones, and whitespace before a sign is skipped.
const FORMULA_START = /^[=+\-@＝＋－＠\t\r\n]/;

export interface CsvOptions {
  /** Puts an apostrophe before text that a spreadsheet would run as a formula. */
  isExcelSafe?: boolean;
}

/** One row, line feed included; null and undefined become empty cells. */
export function csvRow(values: readonly (JsonValue | undefined)[], options: CsvOptions = {}): string {
  const cells = values.map((value) => csvCell(value, options.isExcelSafe ?? false));
  // A single empty cell would be an empty line, which readers skip.
  return cells.length === 1 && cells[0] === '' ? '""\n' : `${cells.join(',')}\n`;
}

function csvCell(value: JsonValue | undefined, isExcelSafe: boolean): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = isExcelSafe && FORMULA_START.test(text) ? `'${text}` : text;
  return safe === '' || /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
