// Where an export goes and in which format, as far as that can be known before anything is fetched.
import { mkdirSync } from 'node:fs';
import { dirname, extname, join, resolve } from 'node:path';
import { CliError, systemFault, usageError } from '../errors.ts';
import { kindAt } from '../files/own-file.ts';
import type { OutputSettings } from '../terminal/output.ts';
import { shellWord } from '../terminal/text.ts';
import type { ExportFormat } from './write-file.ts';

/** Only a file can be replaced by the export, and that only if it is to be. */
export function refusePlace(out: string, isForced: boolean): void {
  const kind = kindAt(out);
  if (kind === 'nothing' || (isForced && (kind === 'file' || kind === 'link'))) return;
  if (kind === 'folder')
    throw usageError(`${out} is a folder.`, `name a file in it: --out ${shellWord(join(out, 'FILE.csv'))}`);
  if (kind === 'other')
    throw usageError(`${out} is not a file.`, 'name a file in --out, or leave it out to write to stdout.');
  throw new CliError(`There is a file at ${out} already.`, {
    nextSteps: ['name another in --out, or add --force to write over it.'],
  });
}

/** Makes the folders that are missing above a file to be. */
export function makeFolderOf(out: string): void {
  try {
    mkdirSync(dirname(resolve(out)), { recursive: true });
  } catch (cause) {
    throw new CliError(`The folder ${dirname(out)} cannot be made: ${systemFault(cause, FOLDER_FAULTS)}.`, {
      nextSteps: ['name another place in --out.'],
      cause,
    });
  }
}

const FOLDER_FAULTS = { EEXIST: 'there is a file of that name', EACCES: 'this user may not write there' };

/** The format that is asked for, by flag, by the name of the file or by how output is wanted; NDJSON unless said. */
export function exportFormat(
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
