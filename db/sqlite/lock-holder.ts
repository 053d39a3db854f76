// Who serves a database file, as the lock beside it says.
import { Database } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { isBusy } from './errors.ts';

/** Who serves a database. */
export interface LockHolder {
  pid: number;
  since: string;
  address: string;
}

/** The lock beside a database file. */
export function lockPath(file: string): string {
  return `${file}-serving`;
}

/** Who serves the database in that file; null while nobody does. */
export function lockHolder(file: string): LockHolder | null {
  return withLock(file, { isFree: () => null, isTaken: readHolder });
}

/** Does something to a file that nobody serves, and that nobody begins to serve meanwhile; nothing to one that was never served. */
export function whileUnserved(file: string, job: () => void): void {
  withLock(file, {
    isFree: () => {
      job();
      return null;
    },
    isTaken: () => null,
  });
}

function withLock<T>(
  file: string,
  { isFree, isTaken }: { isFree: () => T | null; isTaken: (lock: Database) => T | null },
): T | null {
  const name = lockPath(file);
  if (!existsSync(name)) return null;
  const lock = new Database(name, { readwrite: true });
  try {
    lock.run('PRAGMA busy_timeout = 0');
    try {
      // Of one who is gone only the words are left.
      lock.run('BEGIN IMMEDIATE');
    } catch (error) {
      return isBusy(error) ? isTaken(lock) : null;
    }
    const found = isFree();
    lock.run('ROLLBACK');
    return found;
  } finally {
    lock.close();
  }
}

/** Who the words in a lock name; null where they cannot be read. */
export function readHolder(lock: Database): LockHolder | null {
  try {
    return lock.query('SELECT pid, since, address FROM holder').get() as LockHolder | null;
  } catch {
    return null;
  }
}
