// Reads a database that cannot be written, for example on a read-only file system, without changing its files.
import { accessSync, copyFileSync, constants as fsConstants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DatabaseError } from '../database-error.ts';
import type { OpenMode } from './connection.ts';
import { fileBytes } from './disk-space.ts';

const { R_OK, W_OK } = fsConstants;

/** Why a readable file cannot be written, as a continuation of its name; null if it can, or cannot be read either. */
export function readOnlyReason(path: string): string | null {
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

/** How SQLite can open a file that cannot be written. */
export interface ReadOnlyFile {
  name: string;
  mode: OpenMode;
  /** Call this after closing it. */
  release(): void;
}

/**
 * Finds a way to read a file with everything in its log.
 * @param shown the name that the operator gave
 * @param file without links
 * @throws DatabaseError if its log can neither be read in place nor copied
 */
export function openReadOnlyFile(shown: string, file: string): ReadOnlyFile {
  const release = () => undefined;
  if (fileBytes(`${file}-wal`) === 0) {
    // Without a log, no process is writing to it.
    const name = `${pathToFileURL(file).href}?mode=ro&immutable=1`;
    return { name, mode: { byUri: 'readonly' }, release };
  }
  // With the log's index, SQLite can read the log in place.
  if (fileBytes(`${file}-shm`) > 0) return { name: file, mode: { readonly: true }, release };
  return copied(shown, file);
}

// SQLite creates a missing index next to the copy.
function copied(shown: string, file: string): ReadOnlyFile {
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
      `${shown} cannot be written, so its log ${shown}-wal can be read only from a copy, which could not be made in ${tmpdir()} (${why}).`,
      [
        'Set TMPDIR to a folder with room for both files, and run the same command again.',
        `Or copy both files to a writable folder, and use the copy with --db: cp ${shown} ${shown}-wal FOLDER/`,
      ],
      cause,
    );
  }
}
