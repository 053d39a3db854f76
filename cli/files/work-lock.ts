// Locks work so that only one process does it; the operating system releases the lock of a killed process.
import { constants, Database } from 'bun:sqlite';
import { closeSync, lstatSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { CliError, errorCode } from '../errors.ts';
import { createPrivateFile, foreignFileReason, isOwnFolder } from './private-file.ts';

const { SQLITE_OPEN_NOFOLLOW, SQLITE_OPEN_READWRITE } = constants;

/** Work that only one process may do at a time. */
export interface WorkLock {
  /** Path of the lock in an existing folder; the same for every process that does the work. */
  path: string;
  /** Words that follow "Process 123". */
  refusal: string;
  nextSteps: string[];
}

/** The lock for writing to a path: next to it, because runs may have different temporary folders. */
export function lockBeside(path: string): string {
  const folder = dirname(resolve(path));
  try {
    mkdirSync(folder, { recursive: true });
    return join(realpathSync(folder), `${basename(path)}.crm-lock`);
  } catch (cause) {
    throw new CliError(`Cannot create or open the folder ${folder} (${errorCode(cause)}).`, {
      nextSteps: ['choose another place.'],
      cause,
    });
  }
}

/** The lock for work without a path: in a folder of this user, the same for every login and service. */
export function lockOf(name: string): string {
  const state = process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state');
  // For a user without a home: a private folder in the temporary one.
  const shared = join(tmpdir(), `crm-${process.getuid?.() ?? 0}`);
  for (const folder of [join(state, 'crm'), shared]) {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const real = realpathSync(folder);
      if (isOwnFolder(real)) return join(real, name);
    } catch {
      // Try the next one.
    }
  }
  throw new CliError(`${shared} is not a folder of this user, and ${join(state, 'crm')} cannot be created.`, {
    nextSteps: ['set XDG_STATE_HOME to a folder for locks.'],
  });
}

/**
 * Locks a piece of work; the returned function releases the lock.
 * @throws CliError that names the process holding the lock
 */
export function lockWork(work: WorkLock): () => void {
  const { path } = work;
  for (;;) {
    const lock = open(path);
    const file = fileAt(path);
    take(path, lock, work);
    // The previous holder may have removed the file after it was opened here: then the lock has no effect.
    if (file !== undefined && file === fileAt(path)) {
      return () => free(path, lock);
    }
    lock.close();
  }
}

function free(path: string, lock: Database): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // A leftover file does not lock anything.
  }
  lock.close();
}

function open(path: string): Database {
  try {
    make(path);
    const found = lstatSync(path, { throwIfNoEntry: false });
    const reason = found && foreignFileReason(found);
    if (reason) throw foreign(path, reason);
    return new Database(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW);
  } catch (cause) {
    throw cause instanceof CliError ? cause : unusable(path, cause);
  }
}

function make(path: string): void {
  try {
    closeSync(createPrivateFile(path));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

function foreign(path: string, reason: string): CliError {
  return new CliError(`The lock file ${path} ${reason}.`, {
    nextSteps: [`check whose file it is (ls -l ${path}) and remove it, or choose another place.`],
  });
}

const FULL = ['SQLITE_FULL', 'ENOSPC', 'EDQUOT'];

function unusable(path: string, cause: unknown): CliError {
  if (FULL.includes(errorCode(cause))) {
    return new CliError(`Cannot write the lock file ${path}: the disk is full.`, {
      nextSteps: ['free space there, or choose another place.'],
      cause,
    });
  }
  return new CliError(`Cannot open the lock file ${path} for writing (${errorCode(cause)}).`, {
    nextSteps: ['make its folder writable, or choose another place.'],
    cause,
  });
}

function take(path: string, lock: Database, { refusal, nextSteps }: WorkLock): void {
  try {
    // Nothing in it must survive a crash.
    lock.run('PRAGMA synchronous = OFF');
    lock.run('BEGIN IMMEDIATE');
    lock.run('CREATE TABLE IF NOT EXISTS holder (pid INTEGER) STRICT');
    lock.run('DELETE FROM holder');
    lock.run('INSERT INTO holder VALUES (?)', [process.pid]);
    lock.run('COMMIT');
    // A reserved lock excludes other writers but lets them read who holds it.
    lock.run('BEGIN IMMEDIATE');
  } catch (cause) {
    const isBusy = errorCode(cause).startsWith('SQLITE_BUSY');
    const holder = isBusy ? holderOf(lock) : '';
    lock.close();
    if (!isBusy) {
      removeEmpty(path);
      throw unusable(path, cause);
    }
    throw new CliError(`${holder} ${refusal}.`, { nextSteps, cause });
  }
}

/** Removes a lock file in which nothing was written, so that none stays behind; another's has its holder. */
function removeEmpty(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.size === 0) rmSync(path, { force: true });
}

function fileAt(path: string): number | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.ino;
}

function holderOf(lock: Database): string {
  try {
    return `Process ${lock.query<{ pid: number }, []>('SELECT pid FROM holder').get()?.pid}`;
  } catch {
    return 'Another process';
  }
}
