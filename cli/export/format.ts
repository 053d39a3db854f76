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
  if (options.format !== undefined) return options.format;
  const isTable = !config.isOutputGiven || config.output === 'table';
  const extension = extname(options.out ?? '').toLowerCase();
  const format = FORMATS[extension];
  if (format !== undefined) return format;
  // Programs would open a file with another extension as what it is not.
  const isSpreadsheet = SPREADSHEETS.includes(extension);
  if (!isTable && !isSpreadsheet) return config.output as ExportFormat;
  if (!/^\.[a-z][a-z\d]*$/.test(extension)) return 'ndjson';
  const csv = shellWord(`${options.out?.slice(0, -extension.length)}.csv`);
  throw isSpreadsheet
    ? usageError(
        `crm cannot write ${extension} files. Spreadsheets can open CSV.`,
        `export to a CSV file: --excel-safe --out ${csv}`,
      )
    : usageError(
        `Unknown file extension ${extension}.`,
        `add --format csv, ndjson or json, or use a known extension: --out ${csv}`,
      );
}

const FORMATS: Readonly<Record<string, ExportFormat>> = {
  '.csv': 'csv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.json': 'json',
};
const SPREADSHEETS = ['.xlsx', '.xls', '.xlsm', '.ods', '.numbers'];
