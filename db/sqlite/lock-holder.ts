// Who serves a database file, according to the lock file next to it.
import type { Database } from 'bun:sqlite';
import { lstatSync } from 'node:fs';
import { isBusy } from './errors.ts';
import { openLockFile } from './lock-file.ts';

/** The server of a database. */
export interface LockHolder {
  pid: number;
  since: string;
  address: string;
  /** Whether it hands requests over to a server that takes over. */
  handsOver?: boolean;
  /** The path of the socket on which it receives forwarded requests, if it has one. */
  takeoverSocket?: string | null;
}

/** The path of a database file's lock file. */
export function lockPath(file: string): string {
  return `${file}-serving`;
}

/** The server of the database in that file; null if there is none. */
export function lockHolder(file: string): LockHolder | null {
  return withLock(file, { isFree: () => null, isTaken: readHolder });
}

/** Runs a job on a file while no one can serve it; skips it if the file is being served, or was never served. */
export function withoutServer(file: string, job: () => void): void {
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
  const lock = openLockFile(name, file);
  try {
    lock.run('PRAGMA busy_timeout = 0');
    try {
      // If the holder is gone, only its entry is left.
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

/** Writes the holder into a lock file. */
export function writeHolder(lock: Database, { pid, since, address, ...holder }: LockHolder): void {
  lock.run('CREATE TABLE IF NOT EXISTS holder (pid INTEGER, since TEXT, address TEXT) STRICT');
  lock.run('DELETE FROM holder');
  lock.run('INSERT INTO holder VALUES (?, ?, ?)', [pid, since, address]);
  // A separate table: an older crm, which ignores it, expects three columns in the other one.
  lock.run('CREATE TABLE IF NOT EXISTS handover (pid INTEGER, since TEXT, inlet TEXT) STRICT');
  lock.run('DELETE FROM handover');
  if (holder.handsOver)
    lock.run('INSERT INTO handover VALUES (?, ?, ?)', [pid, since, holder.takeoverSocket ?? null]);
}

/** The holder in a lock file; null if it cannot be read. */
export function readHolder(lock: Database): LockHolder | null {
  try {
    const holder = lock.query('SELECT pid, since, address FROM holder').get() as LockHolder | null;
    return holder && { ...holder, ...handoverOf(lock, holder) };
  } catch {
    return null;
  }
}

function handoverOf(
  lock: Database,
  { pid, since }: LockHolder,
): Pick<LockHolder, 'handsOver' | 'takeoverSocket'> {
  const tables = lock.query("SELECT 1 FROM sqlite_schema WHERE name = 'handover'").all();
  if (tables.length === 0) return {};
  const row = lock
    .query('SELECT inlet AS takeoverSocket FROM handover WHERE pid = ? AND since = ?')
    .get(pid, since);
  return row === null ? {} : { handsOver: true, ...(row as { takeoverSocket: string | null }) };
}
