// A database file at one moment.
import type { Db } from '../engine/schema.ts';
import type { DatabaseSnapshot } from '../engine/snapshot.ts';
import { Connection, type OpenMode } from './connection.ts';
import { fileBytes } from './disk-space.ts';
import { withFileErrors } from './errors.ts';
import { checkFile } from './file-check.ts';
import { openReadOnlyFile, type ReadOnlyFile, readOnlyReason } from './read-only-file.ts';

/**
 * Opens a file for reading.
 * @throws DatabaseError if it is missing or cannot be used
 */
export function openFileSnapshot(path: string): DatabaseSnapshot {
  const { read, close } = openConnectionSnapshot(path);
  return { read, close: async () => close() };
}

/** A snapshot with its connection. */
export interface ConnectionSnapshot {
  connection: Connection;
  read: Db;
  close(): void;
}

/** The same, with its connection; a file that cannot be written is read without changing it. */
export function openConnectionSnapshot(path: string): ConnectionSnapshot {
  const isWritten = readOnlyReason(path) === null;
  const { path: file, held } = checkFile(path, false, isWritten);
  let place: ReadOnlyFile | null = null;
  try {
    place = isWritten ? null : withFileErrors(path, () => openReadOnlyFile(path, file));
    const connection = withFileErrors(path, () => {
      const opened = new Connection(place?.name ?? file, place?.mode ?? modeFor(file));
      opened.setPragmas({ query_only: 1 });
      opened.post('BEGIN');
      return opened;
    });
    return {
      connection,
      read: connection.db,
      close: () => {
        // A failed statement could have ended it.
        if (connection.inTransaction) connection.post('COMMIT');
        connection.close();
        place?.release();
        held.release();
      },
    };
  } catch (error) {
    place?.release();
    held.release();
    throw error;
  }
}

// Closing a file last moves its log into it and deletes the log: the log of a killed server is therefore only read. Without
// a log, a connection that cannot write would leave an empty one behind.
function modeFor(file: string): OpenMode {
  return fileBytes(`${file}-wal`) > 0 ? { readonly: true } : { readwrite: true, create: false };
}
