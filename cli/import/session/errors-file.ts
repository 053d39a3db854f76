// Writes rejected rows with the reasons, in a format that can be corrected and imported again.
import { closeSync, fdatasyncSync, ftruncateSync, renameSync, rmSync } from 'node:fs';
import { basename, extname, join, resolve } from 'node:path';
import type { Data } from '../../../db/model/json.ts';
import { CliError, errorCode, systemFault, usageError } from '../../errors.ts';
import { hashFile } from '../../files/digest.ts';
import {
  createPrivateFile,
  kindAt,
  reopenPrivateFile,
  syncFolderOf,
  writeAt,
} from '../../files/private-file.ts';
import { csvRow } from '../../terminal/csv.ts';
import { note } from '../../terminal/streams.ts';
import type { ImportRequest } from '../request.ts';
import { ERROR_COLUMNS, type Format, type Rejection, type SourceRow, TEXT_COLUMN } from '../row.ts';

/** How many bytes of an errors file were written, and their digest. */
export interface ErrorsMark {
  bytes: number;
  digest: string;
}

export interface ErrorsFileOptions {
  /** The path from `--errors`, or null for the default. */
  path: string | null;
  /** The input, `-` for standard input. */
  input: string;
  format: Format;
  /** Suffix of the default name; `errors` by default. */
  suffix?: 'errors' | 'left-out';
  /** Begins the default name for standard input; `import` by default. */
  verb?: string;
  /** The headers of a CSV input. */
  headers: readonly string[] | null;
  /** The known part of an earlier run's file, when resuming. */
  earlier: ErrorsMark | null;
}

/** Throws a usage error if `--errors` is not a possible file for rejected rows. */
export function checkErrorsPath({ errors: path, input }: Pick<ImportRequest, 'errors' | 'input'>): void {
  if (path === null) return;
  if (resolve(path) === resolve(input)) {
    throw usageError('--errors is the input itself.', 'choose another file.');
  }
  if (['folder', 'other'].includes(kindAt(path))) {
    throw usageError(
      `Cannot write rejected rows to ${path}: it is not a file.`,
      'set --errors to another file.',
    );
  }
}

/** The errors file, created with the first rejected row. */
export class ErrorsFile {
  readonly #options: ErrorsFileOptions;
  #descriptor: number | null = null;
  #bytes = 0;
  #hasher = new Bun.CryptoHasher('sha256');
  #isSynced = true;
  /** Whether its name is not on disk yet. */
  #isNew = false;
  #path: string | null = null;

  constructor(options: ErrorsFileOptions) {
    this.#options = options;
    const { earlier } = options;
    // A file that was moved or changed is not continued: further rows go to a new file.
    for (const place of earlier === null ? [] : this.#places()) {
      const hasher = kindAt(place) === 'file' ? hashFile(place, earlier?.bytes) : null;
      if (earlier === null || hasher?.copy().digest('hex') !== earlier.digest) continue;
      this.#path = place;
      this.#bytes = earlier.bytes;
      this.#hasher = hasher;
      break;
    }
  }

  /** Null while there are no rejected rows. */
  get path(): string | null {
    return this.#path;
  }

  /** The file of an earlier run, even if it was changed. */
  get standing(): string | null {
    if (this.#options.earlier === null) return null;
    return this.#places().find((place) => kindAt(place) === 'file') ?? null;
  }

  /** What is written so far; null while there are no rejected rows. */
  get mark(): ErrorsMark | null {
    return this.#path === null ? null : { bytes: this.#bytes, digest: this.#hasher.copy().digest('hex') };
  }

  /** Starts a new file; renames an existing one that may belong to another import. */
  startOver(isOurs: boolean): void {
    this.close();
    const place = this.#path ?? this.#wanted();
    this.#path = null;
    this.#bytes = 0;
    this.#hasher = new Bun.CryptoHasher('sha256');
    try {
      if (isOurs) rmSync(place, { force: true });
      else moveAside(place);
    } catch {
      // Opening it reports the error, if it is needed.
    }
  }

  add(row: SourceRow, rejection: Rejection): void {
    this.#descriptor ??= this.#open();
    this.#write(this.#options.format === 'csv' ? this.#csvLine(row, rejection) : jsonLine(row, rejection));
  }

  /** Returns once every row that was added is on disk. */
  sync(): void {
    if (this.#descriptor === null || this.#isSynced) return;
    fdatasyncSync(this.#descriptor);
    if (this.#isNew && this.#path !== null) syncFolderOf(this.#path);
    this.#isNew = false;
    this.#isSynced = true;
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  #wanted(): string {
    const { path, input, format, suffix = 'errors', verb = 'import' } = this.#options;
    const name = `${suffix}.${format === 'csv' ? 'csv' : 'ndjson'}`;
    return path ?? (input === '-' ? `${verb}-${name}` : `${input}.${name}`);
  }

  /** Possible paths: as requested, or next to the input, or in the current folder if that is not writable. */
  #places(): string[] {
    const wanted = this.#wanted();
    if (this.#options.path !== null) return [wanted];
    return [...new Set([wanted, join(process.cwd(), basename(wanted))])];
  }

  #open(): number {
    if (this.#path !== null) return this.#reopen(this.#path);
    let failure: unknown;
    for (const place of this.#places()) {
      try {
        moveAside(place);
        const descriptor = createPrivateFile(place);
        this.#path = place;
        this.#isNew = true;
        this.#descriptor = descriptor;
        const { headers } = this.#options;
        if (headers !== null) this.#write(csvRow([...ERROR_COLUMNS, ...this.#own(headers)]));
        return descriptor;
      } catch (error) {
        failure = error;
        this.#discard();
      }
    }
    throw failure instanceof CliError ? failure : unwritableErrors(this.#wanted(), failure);
  }

  /** Removes a new file whose header line could not be written. */
  #discard(): void {
    if (this.#descriptor === null || this.#path === null) return;
    closeSync(this.#descriptor);
    rmSync(this.#path, { force: true });
    this.#descriptor = null;
    this.#path = null;
    this.#bytes = 0;
    this.#hasher = new Bun.CryptoHasher('sha256');
  }

  #reopen(path: string): number {
    try {
      const descriptor = reopenPrivateFile(path);
      // The rows of an interrupted batch are written again when it is finished.
      ftruncateSync(descriptor, this.#bytes);
      return descriptor;
    } catch (error) {
      throw unwritableErrors(path, error);
    }
  }

  #write(text: string): void {
    if (this.#descriptor === null) throw new Error('the errors file is not open');
    const bytes = Buffer.from(text);
    try {
      writeAt(this.#descriptor, bytes, this.#bytes);
      this.#bytes += bytes.length;
      this.#hasher.update(bytes);
      this.#isSynced = false;
    } catch (error) {
      throw unwritableErrors(this.#path ?? this.#wanted(), error);
    }
  }

  /** The reasons come first, so that a row with missing cells still has them missing. */
  #csvLine(row: SourceRow, rejection: Rejection): string {
    const cells = Array.isArray(row.original) ? row.original : [];
    const { code, path, message } = rejection;
    return csvRow([row.line, code, path || null, message, ...this.#own(cells).map((cell) => cell || null)]);
  }

  /** Cells without those that an imported errors file had added. */
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

/** Renames an existing file with the first free number: `x.errors.csv` becomes `x.errors.1.csv`. */
function moveAside(path: string): void {
  if (!['file', 'link'].includes(kindAt(path))) return;
  const extension = extname(path);
  const stem = path.slice(0, path.length - extension.length);
  let number = 1;
  while (kindAt(`${stem}.${number}${extension}`) !== 'nothing') number += 1;
  const aside = `${stem}.${number}${extension}`;
  renameSync(path, aside);
  note(`crm: renamed the existing ${path} to ${aside}.`);
}

function unwritableErrors(path: string, cause: unknown): CliError {
  const reason = systemFault(cause, { ENOENT: 'the folder does not exist' });
  return new CliError(`Cannot write rejected rows to ${path}: ${reason}.`, {
    nextSteps: [
      `${errorCode(cause) === 'ENOSPC' ? 'free space there' : 'allow writing there'}, or add --errors FILE with another place.`,
    ],
    cause,
  });
}
