// The format of an export, by flag or by the name of its file, known before anything is fetched.
import { extname } from 'node:path';
import { type CliError, usageError } from '../errors.ts';
import type { OutputSettings } from '../terminal/output.ts';
import { shellWord } from '../terminal/text.ts';
import type { ExportFormat } from './write-file.ts';

/** The format that is asked for, by flag, by the name of the file or by how output is wanted; NDJSON unless said. */
export function chooseExportFormat(
  options: { format?: ExportFormat; out?: string },
  config: Pick<OutputSettings, 'output' | 'isOutputGiven'>,
): ExportFormat {
  if (options.format !== undefined) return options.format;
  const isTable = !config.isOutputGiven || config.output === 'table';
  const extension = extname(options.out ?? '').toLowerCase();
  const format = FORMATS[extension];
  if (format !== undefined) return format;
  // What was named otherwise would be opened as what it is not.
  if (SPREADSHEETS.includes(extension)) throw unknownFormat(options.out ?? '', extension);
  if (!isTable) return config.output as ExportFormat;
  if (/^\.[a-z][a-z\d]*$/.test(extension)) throw unknownFormat(options.out ?? '', extension);
  return 'ndjson';
}

const FORMATS: Readonly<Record<string, ExportFormat>> = {
  '.csv': 'csv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.json': 'json',
};
const SPREADSHEETS = ['.xlsx', '.xls', '.xlsm', '.ods', '.numbers'];

function unknownFormat(out: string, extension: string): CliError {
  const csv = shellWord(`${out.slice(0, -extension.length)}.csv`);
  return SPREADSHEETS.includes(extension)
    ? usageError(
        `crm writes CSV, which spreadsheets open, and not ${extension}.`,
        `name a CSV file: --excel-safe --out ${csv}`,
      )
    : usageError(
        `What ${extension} stands for is not known here.`,
        `say the format: --format csv, ndjson or json; or name it, as in --out ${csv}`,
      );
}
