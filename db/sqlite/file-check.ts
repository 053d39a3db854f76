// Checks the files at a path before SQLite opens them.
import {
  accessSync,
  existsSync,
  constants as fsConstants,
  lstatSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { DatabaseError } from '../database-error.ts';
import { notWritable, withFileErrors } from './errors.ts';
import { assertOwnership } from './file-ownership.ts';
import { inodeLockHolder } from './inode-lock.ts';
import { assertOwnFilesBeside, createLockFile } from './lock-file.ts';
import { RawFile } from './raw-file.ts';
import { removeReplacedFileNames } from './replaced-file-names.ts';

/** A file that SQLite can open. */
export interface CheckedFile {
  /** The path that SQLite derives its other names from: absolute and without links. */
  path: string;
  /** Release it after SQLite has closed the file. */
  held: RawFile;
}

/**
 * Checks the file at a path, and creates an empty one if it is missing and `create` is true.
 * @param isWritten whether it must be writable
 * @throws DatabaseError if the file is missing, not writable, or must not be opened
 */
export function checkFile(path: string, create: boolean, isWritten = true): CheckedFile {
  assertUsablePath(path, create, isWritten);
  const real = withFileErrors(path, () => realPath(path));
  assertOwnFilesBeside(real);
  if (!existsSync(real) || statSync(real).size === 0) {
    assertOwnership(path, `${real}-wal`, null);
    createPrivately(real);
    return { path: realpathSync(real), held: RawFile.hold(real) };
  }
  const held = withFileErrors(path, () => RawFile.hold(real));
  try {
    assertOwnership(path, `${real}-wal`, held);
  } catch (error) {
    held.release();
    throw error;
  }
  return { path: real, held };
}

/** The path without links; for a missing file, that of its folder. */
export function realPath(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const name = join(realpathSync(dirname(resolve(path))), basename(path));
  const link = lstatSync(name, { throwIfNoEntry: false });
  if (!link?.isSymbolicLink()) return name;
  // A link to a missing file: one made by another user could lead anywhere.
  if (process.geteuid !== undefined && ![process.geteuid(), 0].includes(link.uid))
    throw new DatabaseError(`${name} is a link that belongs to another user (uid ${link.uid}).`, [
      'Use the file itself, or another one, with --db PATH.',
    ]);
  return realPath(resolve(dirname(name), readlinkSync(name)));
}

function assertUsablePath(path: string, create: boolean, isWritten: boolean): void {
  if (existsSync(path)) {
    const file = statSync(path);
    if (!file.isFile()) {
      throw new DatabaseError(`${path} is not a file.`, ['Use a database file with --db PATH.']);
    }
    if (file.nlink > 1) assertOneName(path);
    if (isWritten) assertWritable(path);
    return;
  }
  if (!create) {
    throw new DatabaseError(`There is no database at ${path}.`, [
      'Create one: crm init --org NAME',
      'Or use another file with --db PATH (or CRM_DB).',
    ]);
  }
  try {
    accessSync(dirname(resolve(path)), fsConstants.W_OK | fsConstants.X_OK);
  } catch (cause) {
    const steps = ['Create the folder, or give the user who runs crm write permission for it.'];
    const fault = existsSync(dirname(resolve(path))) ? 'is not writable' : 'does not exist';
    throw new DatabaseError(`The database ${path} cannot be created: its folder ${fault}.`, steps, cause);
  }
}

function assertOneName(path: string): void {
  withFileErrors(path, () => removeReplacedFileNames(realpathSync(path)));
  if (statSync(path).nlink > 1) throw severalNames(path);
}

// https://sqlite.org/howtocorrupt.html: SQLite has a log for each name, and two logs lose writes.
function severalNames(path: string): DatabaseError {
  const server = inodeLockHolder(path);
  const use = server === undefined ? '' : `, and process ${server} serves it`;
  return new DatabaseError(
    `The database ${path} has several names (hard links)${use}. Writing through more than one of them loses data.`,
    [`Remove all names but one; to find them: find / -xdev -samefile ${path}`],
  );
}

// SQLite opens a file without write permission for reading, and reports that only at the first write.
function assertWritable(path: string): void {
  try {
    accessSync(path, fsConstants.R_OK | fsConstants.W_OK);
  } catch (error) {
    throw notWritable(path, error);
  }
}

/**
 * Creates an empty file if there is none. Its content will be about people, so only its owner can read it; SQLite gives its
 * other files the same mode.
 * @param beside the file whose owner it gets if root creates it
 */
export function createPrivately(path: string, beside = path): void {
  try {
    createLockFile(path, beside);
  } catch (error) {
    throw notWritable(path, error);
  }
}
