// Who serves a database file, as the lock beside it says.
import type { Database } from 'bun:sqlite';
import { lstatSync } from 'node:fs';
import { isBusy } from './errors.ts';
import { openPrivately } from './lock-file.ts';

/** Who serves a database. */
export interface LockHolder {
  pid: number;
  since: string;
  address: string;
  /** Whether it hands over to a server that takes its place, or just ends. */
  handsOver?: boolean;
  /** The path of the socket on which it takes requests that a former server hands over, if it has one. */
  inlet?: string | null;
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
  if (lstatSync(name, { throwIfNoEntry: false }) === undefined) return null;
  const lock = openPrivately(name, file);
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

/** Writes into a lock who holds it. */
export function writeHolder(lock: Database, { pid, since, address, ...holder }: LockHolder): void {
  lock.run('CREATE TABLE IF NOT EXISTS holder (pid INTEGER, since TEXT, address TEXT) STRICT');
  lock.run('DELETE FROM holder');
  lock.run('INSERT INTO holder VALUES (?, ?, ?)', [pid, since, address]);
  // In a table of its own: an older crm, which leaves it as it is, knows the other one with three columns.
  lock.run('CREATE TABLE IF NOT EXISTS handover (pid INTEGER, since TEXT, inlet TEXT) STRICT');
  lock.run('DELETE FROM handover');
  if (holder.handsOver) lock.run('INSERT INTO handover VALUES (?, ?, ?)', [pid, since, holder.inlet ?? null]);
}

/** Who the words in a lock name; null where they cannot be read. */
export function readHolder(lock: Database): LockHolder | null {
  try {
    const holder = lock.query('SELECT pid, since, address FROM holder').get() as LockHolder | null;
    return holder && { ...holder, ...handoverOf(lock, holder) };
  } catch {
    return null;
  }
}

function handoverOf(lock: Database, { pid, since }: LockHolder): Pick<LockHolder, 'handsOver' | 'inlet'> {
  const tables = lock.query("SELECT 1 FROM sqlite_schema WHERE name = 'handover'").all();
  if (tables.length === 0) return {};
  const row = lock.query('SELECT inlet FROM handover WHERE pid = ? AND since = ?').get(pid, since);
  return row === null ? {} : { handsOver: true, ...(row as { inlet: string | null }) };
}
