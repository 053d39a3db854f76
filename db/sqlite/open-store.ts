// Opens a database file for writing or for reading, after a look at what lies there.
import { accessSync, closeSync, existsSync, constants as fsConstants, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Connection, ReadConnection } from './connection.ts';
import { DatabaseFileError, guarded, notWritable } from './errors.ts';

/** "CRM1", so that another program's database is told from ours before anything is written. */
const APPLICATION_ID = 0x43524d31;
const WRITER = {
  journal_mode: 'wal',
  // FULL: a commit is on the disk before it is answered.
  synchronous: 2,
  foreign_keys: 1,
  journal_size_limit: 64 * 1024 * 1024,
  // KiB, where negative.
  cache_size: -65_536,
  // In memory.
  temp_store: 2,
};
const READER = { query_only: 1, cache_size: -65_536, mmap_size: 256 * 1024 * 1024 };

/**
 * Opens the connection that writes.
 * @throws DatabaseFileError if the file is missing and not to be created, unwritable, or no database of crm.
 */
export function openWriter(path: string, create: boolean): Connection {
  assertUsablePath(path, create);
  createPrivately(path);
  return guarded(path, () => {
    const writer = new Connection(path, { readwrite: true, create });
    claimFile(writer, path);
    writer.setPragmas(WRITER);
    return writer;
  });
}

/** Opens a connection that can only read. */
export function openReader(path: string): ReadConnection {
  return guarded(path, () => {
    const reader = new ReadConnection(path, { readonly: true });
    reader.setPragmas(READER);
    return reader;
  });
}

// What it holds is about people: nobody but its owner reads it. SQLite gives its other files the same mode.
function createPrivately(path: string): void {
  if (existsSync(path)) return;
  try {
    closeSync(openSync(path, 'a', 0o600));
  } catch (error) {
    throw notWritable(path, error);
  }
}

function assertUsablePath(path: string, create: boolean): void {
  if (existsSync(path)) {
    if (!statSync(path).isFile()) {
      throw new DatabaseFileError(`${path} is not a file.`, ['Name a database file with --db PATH.']);
    }
    assertWritable(path);
    return;
  }
  if (!create) {
    throw new DatabaseFileError(`There is no database at ${path}.`, [
      'Make one: crm init --org NAME',
      'Or name another file with --db PATH (or CRM_DB).',
    ]);
  }
  try {
    accessSync(dirname(resolve(path)), fsConstants.W_OK | fsConstants.X_OK);
  } catch (cause) {
    const steps = ['Make the folder, or give the user who runs crm the right to write in it.'];
    throw new DatabaseFileError(
      `The database ${path} cannot be made: its folder is not writable.`,
      steps,
      cause,
    );
  }
}

// SQLite opens a file that it may not write for reading, and says so at the first write only.
function assertWritable(path: string): void {
  try {
    accessSync(path, fsConstants.R_OK | fsConstants.W_OK);
  } catch (error) {
    throw notWritable(path, error);
  }
}

// A new, empty file becomes ours; anything else must be ours already.
function claimFile(writer: Connection, path: string): void {
  const id = writer.pragma('application_id');
  if (id === APPLICATION_ID) return;
  const { tables } = writer
    .prepare<{ tables: number }, []>('SELECT count(*) AS tables FROM sqlite_schema')
    .get() ?? { tables: 0 };
  if (tables > 0 || id !== 0) {
    throw new DatabaseFileError(`${path} is an SQLite database of another program.`, [
      'Name a database of crm, or a new file, with --db PATH.',
    ]);
  }
  writer.setPragmas({ application_id: APPLICATION_ID });
}
