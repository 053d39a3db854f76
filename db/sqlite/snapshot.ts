// A database file as it is at one moment.
import { existsSync, statSync } from 'node:fs';
import type { Db } from '../schema.ts';
import type { DatabaseSnapshot } from '../snapshot.ts';
import { Connection } from './connection.ts';
import { guarded } from './errors.ts';
import { checkFile } from './file-check.ts';
import { inodeOf } from './held-file.ts';

/**
 * Opens a file to be read.
 * @throws DatabaseError if it is missing or cannot be used
 */
export function openFileSnapshot(path: string): DatabaseSnapshot {
  const { read, close } = openConnectionSnapshot(path);
  return { read, close: async () => close() };
}

/** A snapshot with the connection that it goes by. */
export interface ConnectionSnapshot {
  connection: Connection;
  read: Db;
  close(): void;
}

/** The same, with the connection that it goes by. */
export function openConnectionSnapshot(path: string): ConnectionSnapshot {
  const { path: file, held } = checkFile(path, false);
  try {
    const connection = guarded(path, () => {
      const opened = new Connection(
        file,
        hasLog(file) ? { readonly: true } : { readwrite: true, create: false },
      );
      opened.setPragmas({ query_only: 1 });
      opened.post('BEGIN');
      return opened;
    });
    return {
      connection,
      read: connection.db,
      close: () => {
        // A statement that failed may have ended it.
        if (connection.inTransaction) connection.post('COMMIT');
        connection.close();
        held.release();
      },
    };
  } catch (error) {
    held.release();
    throw error;
  }
}

// The last to close a file moves its log into it, and deletes it: what a server that was killed has left there is only
// read. Where there is none, a reader that could not write would leave an empty one behind.
function hasLog(file: string): boolean {
  return existsSync(`${file}-wal`) && statSync(`${file}-wal`).size > 0;
}

/** What tells the file at a path from every other, whatever its name; '' where there is none. */
export function fileIdentity(path: string): string {
  return inodeOf(statSync(path, { bigint: true, throwIfNoEntry: false }));
}
