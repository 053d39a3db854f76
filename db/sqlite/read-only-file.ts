// Reads a database that cannot be written, as on a read-only file system, just as its files lie there.
import {
  accessSync,
  copyFileSync,
  existsSync,
  constants as fsConstants,
  mkdtempSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DatabaseError } from '../database-error.ts';
import type { OpenMode } from './connection.ts';

const { R_OK, W_OK } = fsConstants;

/** Why a file that can be read cannot be written, which goes on from its name; null where it can, or cannot be read either. */
export function whyOnlyReadable(path: string): string | null {
  try {
    accessSync(path, R_OK);
  } catch {
    return null;
  }
  try {
    accessSync(path, W_OK);
    return null;
  } catch (error) {
    const isFileSystem = error instanceof Error && 'code' in error && error.code === 'EROFS';
    return isFileSystem ? 'is on a read-only file system' : 'cannot be written by this user';
  }
}

/** How SQLite is to open what cannot be written. */
export interface ReadableAsItIs {
  name: string;
  mode: OpenMode;
  /** To be called once it is closed. */
  release(): void;
}

/**
 * Finds the way to read a file with all that its log holds.
 * @param shown as the operator named it
 * @param file without links
 * @throws DatabaseError if its log cannot be read where it lies, nor copied
 */
export function asItIs(shown: string, file: string): ReadableAsItIs {
  const release = () => undefined;
  if (sizeOf(`${file}-wal`) === 0) {
    // Whoever wrote to it would have a log there.
    const name = `${pathToFileURL(file).href}?mode=ro&immutable=1`;
    return { name, mode: { byUri: 'readonly' }, release };
  }
  // With the index of its log SQLite reads the log where it lies.
  if (sizeOf(`${file}-shm`) > 0) return { name: file, mode: { readonly: true }, release };
  return copied(shown, file);
}

// SQLite makes the index of a log that has none beside it.
function copied(shown: string, file: string): ReadableAsItIs {
  let folder = '';
  const release = () => {
    process.off('exit', release);
    if (folder !== '') rmSync(folder, { recursive: true, force: true });
  };
  process.on('exit', release);
  try {
    folder = mkdtempSync(join(tmpdir(), 'crm-read-'));
    const name = join(folder, 'crm.db');
    for (const suffix of ['', '-wal']) copyFileSync(file + suffix, name + suffix);
    return { name, mode: { readwrite: true, create: false }, release };
  } catch (cause) {
    release();
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw new DatabaseError(
      `${shown} cannot be written, and what its log, ${shown}-wal, holds can be read from a copy alone, which could not be made in ${tmpdir()} (${why}).`,
      [
        'Name a folder with room for both files in TMPDIR, and run the same command again.',
        `Or copy both to where they can be written, and name the copy with --db: cp ${shown} ${shown}-wal FOLDER/`,
      ],
      cause,
    );
  }
}

function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0;
}
