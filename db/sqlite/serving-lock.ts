// The lock that allows one server per database file, under any name, and records its holder.
import { existsSync, rmSync, statSync } from 'node:fs';
import { DatabaseError } from '../database-error.ts';
import { explainFileError, isBusy, withFileErrors } from './errors.ts';
import { checkFile, createPrivately, realPath } from './file-check.ts';
import { inodeLockHolder, lockInode } from './inode-lock.ts';
import { openLockFile } from './lock-file.ts';
import { type LockHolder, lockHolder, lockPath, readHolder, writeHolder } from './lock-holder.ts';
import { RawFile } from './raw-file.ts';
import { removeReplacedFileNames } from './replaced-file-names.ts';

const LOOK_MS_MAX = 500;

/** A database that a server is using. */
export class ServedAlreadyError extends DatabaseError {}

/**
 * Takes the lock that allows one server per database file, which is created if missing; take it before opening the store,
 * and release it after closing it. The operating system releases it when the process ends.
 * @returns a function that releases the lock
 * @throws ServedAlreadyError with the holder if another server has it, or with the reason why the file cannot be used
 */
export function lockFile(path: string, holder: LockHolder): () => void {
  const { path: file, held } = checkFile(path, true);
  return lockBoth(path, file, { held, holder });
}

/**
 * Takes the same lock whatever is at the path, even if it is damaged, another program's or missing, before placing a
 * database there.
 * @throws ServedAlreadyError as lockFile
 */
export function lockPlace(path: string, holder: LockHolder): () => void {
  const file = withFileErrors(path, () => realPath(path));
  if (existsSync(file)) withFileErrors(path, () => removeReplacedFileNames(file));
  const held = existsSync(file) ? withFileErrors(path, () => RawFile.hold(file)) : null;
  return lockBoth(path, file, { held, holder });
}

/** Whether the file next to the database at a path exists that records who serves it. */
export function hasLockFile(path: string): boolean {
  return existsSync(lockPath(withFileErrors(path, () => realPath(path))));
}

/** Removes that file; only while this process has the lock, so that a process that waits for it makes another one. */
export function removeLockFile(path: string): void {
  rmSync(lockPath(withFileErrors(path, () => realPath(path))), { force: true });
}

function lockBoth(
  path: string,
  file: string,
  { held, holder }: { held: RawFile | null; holder: LockHolder },
): () => void {
  const taken: (() => void)[] = [() => held?.release()];
  const release = () => {
    // Once: afterwards the descriptor's number can belong to another file.
    for (const giveBack of taken.splice(0).toReversed()) giveBack();
  };
  try {
    taken.push(lockName(path, file, holder));
    const unlock = held === null ? () => undefined : lockInode(held);
    if (unlock === null) throw servedAlready(path, otherName(file));
    taken.push(unlock);
    return release;
  } catch (error) {
    release();
    throw error;
  }
}

function otherName(file: string): string {
  const pid = inodeLockHolder(file);
  return pid === undefined ? ' under another name' : ` under another name (process ${pid})`;
}

// A file next to the database records the holder.
function lockName(path: string, file: string, holder: LockHolder): () => void {
  const name = lockPath(file);
  createPrivately(name, file);
  const inode = inodeOf(name);
  const lock = withFileErrors(path, () => openLockFile(name, file));
  try {
    // A process that checks who serves the file holds the lock for a moment.
    lock.run(`PRAGMA busy_timeout = ${LOOK_MS_MAX}`);
    lock.run('PRAGMA journal_mode = DELETE');
    lock.run('BEGIN IMMEDIATE');
    writeHolder(lock, holder);
    lock.run('COMMIT');
    // A reserved lock blocks other servers but lets them read who holds it.
    lock.run('BEGIN IMMEDIATE');
  } catch (error) {
    const other = isBusy(error) ? readHolder(lock) : null;
    lock.close();
    if (!isBusy(error)) throw explainFileError(path, error);
    const who = other && ` (process ${other.pid}, since ${other.since}, at ${other.address})`;
    throw servedAlready(path, who ?? '');
  }
  if (inodeOf(name) === inode) return () => lock.close();
  // Its holder has removed it since: nobody else would find this lock.
  lock.close();
  return lockName(path, file, holder);
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}

function servedAlready(path: string, how: string): ServedAlreadyError {
  return new ServedAlreadyError(`Another crm server is already serving ${path}${how}.`, [
    'Use that server, or stop it first.',
    'To serve another database, specify it with --db PATH.',
  ]);
}

export interface ServingProcess extends LockHolder {
  /** Whether the system confirms that this process has the file open; false elsewhere, for example in another container. */
  isSeen: boolean;
}

/** The server of the database at a path; null if there is none. */
export function servingProcess(path: string): ServingProcess | null {
  const file = withFileErrors(path, () => realPath(path));
  const holder = lockHolder(file);
  return holder && { ...holder, isSeen: inodeLockHolder(file) === holder.pid };
}
