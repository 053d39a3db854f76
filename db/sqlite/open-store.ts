// Opens a database file for writing or for reading, after a look at what lies there.
import { Connection, ReadConnection } from './connection.ts';
import { guarded } from './errors.ts';
import { checkFile } from './file-check.ts';
import { APPLICATION_ID, firstMark } from './main-file.ts';
import type { HeldFile } from './raw-file.ts';

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
  // Done between two groups, where an error is seen.
  wal_autocheckpoint: 0,
};
/** Readers wait for recoveries only. */
export const READER_BUSY_TIMEOUT_MS = 100;
const READER = { query_only: 1, cache_size: -65_536 };

export interface OpenedWriter {
  writer: Connection;
  /** To be released after the connection is closed. */
  held: HeldFile;
}

/**
 * Opens the connection that writes.
 * @throws DatabaseError if the file is missing and not to be created, unwritable, no database of crm, or lies beside
 * the log of another.
 */
export function openWriter(path: string, create: boolean): OpenedWriter {
  const { path: file, held } = checkFile(path, create);
  try {
    const writer = guarded(path, () => new Connection(file, { readwrite: true, create }));
    guarded(path, () => {
      claimFile(writer);
      writer.setPragmas(WRITER);
      // What is deleted from a page is written over, as the page is written anyway.
      writer.run('PRAGMA secure_delete = FAST');
    });
    return { writer, held };
  } catch (error) {
    held.release();
    throw error;
  }
}

/** Opens a connection that can only read. */
export function openReader(path: string): ReadConnection {
  return guarded(path, () => {
    const reader = new ReadConnection(path, { readonly: true });
    reader.setPragmas(READER);
    return reader;
  });
}

// A new, empty file becomes ours, and one of before there were marks gets its first.
function claimFile(writer: Connection): void {
  if (writer.pragma('application_id') === APPLICATION_ID && writer.pragma('user_version') !== 0) return;
  const claim = writer.transaction(() => {
    writer.setPragmas({ application_id: APPLICATION_ID });
    if (writer.pragma('user_version') === 0) writer.setPragmas({ user_version: firstMark() });
  });
  claim.immediate();
}
