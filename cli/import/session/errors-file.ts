// The file of rejected rows: their own columns and why, in a form that can be corrected and imported again.
import { closeSync, ftruncateSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Data } from '../../../db/declare/json.ts';
import { CliError, errorCode } from '../../errors.ts';
import { csvRow } from '../../terminal/csv.ts';
import { ERROR_COLUMNS, type Format, type Rejection, type SourceRow, TEXT_COLUMN } from '../row.ts';

export interface ErrorsFileOptions {
  /** As `--errors` names it, or null for the default. */
  path: string | null;
  /** The input, `-` for standard input. */
  input: string;
  format: Format;
  /** Of the input, if it is CSV. */
  headers: readonly string[] | null;
  /** An earlier run's file and how much of it is certain, when resuming. */
  resumed: { file: string; bytes: number } | null;
}

function defaultErrorsPath(input: string, format: Format): string {
  const suffix = format === 'csv' ? 'csv' : 'ndjson';
  return input === '-' ? `import-errors.${suffix}` : `${input}.errors.${suffix}`;
}

/** Made with the first rejected row, so that there is none without any. */
export class ErrorsFile {
  readonly #options: ErrorsFileOptions;
  #descriptor: number | null = null;
  #bytes: number;
  #path: string | null;

  constructor(options: ErrorsFileOptions) {
    this.#options = options;
    this.#path = options.resumed?.file ?? null;
    this.#bytes = options.resumed?.bytes ?? 0;
  }

  /** Null while there are no rejected rows. */
  get path(): string | null {
    return this.#path;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Removes what an earlier import left under the name, so that its rows are not taken for this one's. */
  removeOld(): void {
    if (this.#path !== null) return;
    try {
      unlinkSync(this.#wantedPath());
    } catch {
      // None is there; or it cannot be removed, which opening it will tell if it is needed.
    }
  }

  add(row: SourceRow, rejection: Rejection): void {
    this.#descriptor ??= this.#open();
    this.#write(this.#options.format === 'csv' ? this.#csvLine(row, rejection) : jsonLine(row, rejection));
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  #wantedPath(): string {
    return this.#options.path ?? defaultErrorsPath(this.#options.input, this.#options.format);
  }

  #open(): number {
    if (this.#path !== null) return this.#reopen(this.#path);
    const wanted = this.#wantedPath();
    const fallback = join(process.cwd(), basename(wanted));
    const paths = this.#options.path === null && fallback !== wanted ? [wanted, fallback] : [wanted];
    let failure: unknown;
    for (const path of paths) {
      try {
        const descriptor = openSync(path, 'w');
        this.#path = path;
        this.#descriptor = descriptor;
        const { headers } = this.#options;
        if (headers !== null) this.#write(csvRow([...ERROR_COLUMNS, ...this.#own(headers)]));
        return descriptor;
      } catch (error) {
        failure = error;
      }
    }
    throw unwritableErrors(wanted, failure);
  }

  #reopen(path: string): number {
    try {
      const descriptor = openSync(path, 'r+');
      // Rows of a batch that was cut off are written again when it is finished.
      ftruncateSync(descriptor, this.#bytes);
      return descriptor;
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw unwritableErrors(path, error);
      // Moved away since: the rows still to come get a file of their own.
      this.#path = null;
      this.#bytes = 0;
      return this.#open();
    }
  }

  #write(text: string): void {
    if (this.#descriptor === null) throw new Error('the errors file is not open');
    const bytes = Buffer.from(text);
    try {
      for (let at = 0; at < bytes.length; ) {
        const written = writeSync(this.#descriptor, bytes, at, bytes.length - at, this.#bytes);
        at += written;
        this.#bytes += written;
      }
    } catch (error) {
      throw unwritableErrors(this.#path ?? this.#wantedPath(), error);
    }
  }

  /** The reasons come first, so that a ragged row stays as ragged as it was and is not taken for a whole one. */
  #csvLine(row: SourceRow, rejection: Rejection): string {
    const cells = Array.isArray(row.original) ? row.original : [];
    const { code, path, message } = rejection;
    return csvRow([row.line, code, path || null, message, ...this.#own(cells).map((cell) => cell || null)]);
  }

  /** Cells without those of the errors file that is being imported again. */
  #own(cells: readonly string[]): string[] {
    const headers = this.#options.headers ?? [];
    return cells.filter((_, index) => !(ERROR_COLUMNS as readonly string[]).includes(headers[index] ?? ''));
  }
}

function jsonLine(row: SourceRow, rejection: Rejection): string {
  const own: Data =
    typeof row.original === 'string'
      ? { [TEXT_COLUMN]: row.original }
      : Array.isArray(row.original)
        ? Object.fromEntries(row.entries)
        : { ...(row.original as Data) };
  for (const name of ERROR_COLUMNS) delete own[name];
  const { code: _code, path: _path, message: _message } = rejection;
  return `${JSON.stringify({ ...own, _line: row.line, _code, _path, _message })}\n`;
}

function unwritableErrors(path: string, cause: unknown): CliError {
  return new CliError(`Cannot write rejected rows to ${path}: ${errorCode(cause)}.`, {
    nextSteps: ['name another place with --errors FILE, and run the command again.'],
    cause,
  });
}
