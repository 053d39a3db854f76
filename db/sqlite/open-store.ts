// Opens a database file for writing or for reading, after checking it.
import { Connection, ReadConnection } from './connection.ts';
import { withFileErrors } from './errors.ts';
import { checkFile } from './file-check.ts';
import { APPLICATION_ID, firstMark } from './main-file.ts';
import type { RawFile } from './raw-file.ts';

const WRITER = {
  journal_mode: 'wal',
  // FULL: a commit is on the disk before its response is sent.
  synchronous: 2,
  foreign_keys: 1,
  journal_size_limit: 64 * 1024 * 1024,
  // KiB, if negative.
  cache_size: -65_536,
  // In memory.
  temp_store: 2,
  // Checkpoints run between two groups, where errors are noticed.
  wal_autocheckpoint: 0,
};
/** Readers only wait for recoveries. */
export const READER_BUSY_TIMEOUT_MS = 100;
const READER = { query_only: 1, cache_size: -65_536 };

export interface OpenedWriter {
  writer: Connection;
  /** Release it after the connection is closed. */
  held: RawFile;
}

/**
 * Opens the connection for writing.
 * @throws DatabaseError if the file is missing and must not be created, not writable, not a crm database, or next to a log
 * of another file.
 */
export function openWriter(path: string, create: boolean): OpenedWriter {
  const { path: file, held } = checkFile(path, create);
  try {
    const writer = withFileErrors(path, () => new Connection(file, { readwrite: true, create }));
    withFileErrors(path, () => {
      claimFile(writer);
      writer.setPragmas(WRITER);
      // Overwrites deleted content in pages that are written anyway.
      writer.run('PRAGMA secure_delete = FAST');
    });
    return { writer, held };
  } catch (error) {
    held.release();
    throw error;
  }
}

/** Opens a read-only connection. */
export function openReader(path: string): ReadConnection {
  return withFileErrors(path, () => {
    const reader = new ReadConnection(path, { readonly: true });
    reader.setPragmas(READER);
    return reader;
  });
}

// Marks a new, empty file as ours, and adds the first mark to a file from before there were marks.
function claimFile(writer: Connection): void {
  if (writer.pragma('application_id') === APPLICATION_ID && writer.pragma('user_version') !== 0) return;
  const claim = writer.transaction(() => {
    writer.setPragmas({ application_id: APPLICATION_ID });
    if (writer.pragma('user_version') === 0) writer.setPragmas({ user_version: firstMark() });
  });
  claim.immediate();
}
