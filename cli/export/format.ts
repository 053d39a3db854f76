// Decides the format of an export, by flag or file name, before anything is fetched.
import { extname } from 'node:path';
import { usageError } from '../errors.ts';
import type { OutputSettings } from '../terminal/output.ts';
import { shellWord } from '../terminal/text.ts';
import type { ExportFormat } from './write-file.ts';

/** The requested format: by --format, file name or --output; NDJSON by default. */
export function chooseExportFormat(
  options: { format?: ExportFormat; out?: string },
  config: Pick<OutputSettings, 'output' | 'isOutputGiven'>,
): ExportFormat {
  const { format, out = '' } = options;
  refuseWorkbook(out);
  if (format !== undefined) return format;
  const isTable = !config.isOutputGiven || config.output === 'table';
  const extension = extensionOf(out);
  const byName = FORMATS[extension];
  if (byName !== undefined) return byName;
  // Programs would open a file with another extension as what it is not.
  if (!isTable) return config.output as ExportFormat;
  if (!/^\.[a-z][a-z\d]*$/.test(extension)) return 'ndjson';
  throw usageError(
    `Unknown file extension ${extension}.`,
    `add --format csv, ndjson or json, or use a known extension: --out ${knownInstead(out)}`,
  );
}

// A program would not find in it what the name promises.
function refuseWorkbook(out: string): void {
  if (!isWorkbook(out)) return;
  throw usageError(
    `crm does not write ${extensionOf(out)} files; its formats are csv, ndjson and json.`,
    `export CSV, which spreadsheets open: --excel-safe --out ${csvInstead(out)}`,
  );
}

/** Whether a file of that name would be a workbook of a spreadsheet program. */
export function isWorkbook(out: string): boolean {
  return WORKBOOKS.includes(extensionOf(out));
}

function extensionOf(out: string): string {
  return extname(out).toLowerCase();
}

/** A name with a known extension: without that of a compression, if there is one below. */
function knownInstead(out: string): string {
  const stem = out.slice(0, -extname(out).length);
  return FORMATS[extensionOf(stem)] === undefined ? csvInstead(out) : shellWord(stem);
}

function csvInstead(out: string): string {
  return shellWord(`${out.slice(0, -extname(out).length)}.csv`);
}

const FORMATS: Readonly<Record<string, ExportFormat>> = {
  '.csv': 'csv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.json': 'json',
};
const WORKBOOKS = ['.xlsx', '.xls', '.xlsm', '.ods', '.numbers'];
