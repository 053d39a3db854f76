// The lock that lets one server run per database file, and says who holds it.
import { Database } from 'bun:sqlite';
import { DatabaseFileError, explainFileError, guarded, sqliteCode } from './errors.ts';

/** Who serves a database. */
export interface LockHolder {
  pid: number;
  since: string;
  address: string;
}

/**
 * Takes the lock that lets one server run per database file; the operating system frees it when the process ends.
 * @returns a function that gives the lock back
 * @throws DatabaseFileError that names the holder, if another server has it.
 */
export function lockForServing(path: string, holder: LockHolder): () => void {
  const lock = guarded(path, () => new Database(`${path}-serving`, { readwrite: true, create: true }));
  try {
    lock.run('PRAGMA journal_mode = DELETE');
    lock.run('BEGIN IMMEDIATE');
    lock.run('CREATE TABLE IF NOT EXISTS holder (pid INTEGER, since TEXT, address TEXT) STRICT');
    lock.run('DELETE FROM holder');
    lock.run('INSERT INTO holder VALUES (?, ?, ?)', [holder.pid, holder.since, holder.address]);
    lock.run('COMMIT');
    // A reserved lock keeps other servers out and still lets them read who holds it.
    lock.run('BEGIN IMMEDIATE');
  } catch (error) {
    const busy = sqliteCode(error).startsWith('SQLITE_BUSY');
    const other = busy ? readHolder(lock) : null;
    lock.close();
    if (!busy) throw explainFileError(path, error);
    const who = other === null ? '' : ` (process ${other.pid}, since ${other.since}, at ${other.address})`;
    throw new DatabaseFileError(`Another crm server is already serving ${path}${who}.`, [
      'Use that server, or stop it first.',
      'To serve another database, name it with --db PATH.',
    ]);
  }
  return () => lock.close();
}

function readHolder(lock: Database): LockHolder | null {
  try {
    return lock.query('SELECT pid, since, address FROM holder').get() as LockHolder | null;
  } catch {
    return null;
  }
}
