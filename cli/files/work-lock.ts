// Keeps a second run of the same work out while one runs; the operating system frees the lock of a killed process.
import { constants, Database } from 'bun:sqlite';
import { closeSync, lstatSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { CliError, errorCode } from '../errors.ts';
import { createPrivateFile, foreignFileReason, isOwnFolder } from './private-file.ts';

const { SQLITE_OPEN_NOFOLLOW, SQLITE_OPEN_READWRITE } = constants;

/** Work that is done once at a time. */
export interface WorkLock {
  /** Where the lock is, in a folder that is there: the same for all who would do the work. */
  path: string;
  /** Goes on from "Process 123". */
  refusal: string;
  nextSteps: string[];
}

/** Where the lock of what is written to a path is: beside it, whatever folder for temporary files each run has. */
export function lockBeside(path: string): string {
  const folder = dirname(resolve(path));
  try {
    mkdirSync(folder, { recursive: true });
    return join(realpathSync(folder), `${basename(path)}.crm-lock`);
  } catch (cause) {
    throw new CliError(`The folder ${folder} cannot be made or opened (${errorCode(cause)}).`, {
      nextSteps: ['name another place.'],
      cause,
    });
  }
}

/** Where a lock is of what lies in no place of its own: in a folder of this user, the same in every login and service. */
export function lockOf(name: string): string {
  const state = process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state');
  // For a user without a home, a folder of this user's own.
  const shared = join(tmpdir(), `crm-${process.getuid?.() ?? 0}`);
  for (const folder of [join(state, 'crm'), shared]) {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const real = realpathSync(folder);
      if (isOwnFolder(real)) return join(real, name);
    } catch {
      // The next one then.
    }
  }
  throw new CliError(`${shared} is not a folder of this user, and ${join(state, 'crm')} cannot be made.`, {
    nextSteps: ['name a folder for locks in XDG_STATE_HOME.'],
  });
}

/**
 * Locks a piece of work; the function it returns frees it.
 * @throws CliError that names the process which has it
 */
export function lockWork(work: WorkLock): () => void {
  const { path } = work;
  for (;;) {
    const lock = open(path);
    const file = fileAt(path);
    take(path, lock, work);
    // Whoever had it before may have removed the file that was opened here: then the lock keeps nobody out.
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
    // What is left of it keeps nobody out.
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
  return new CliError(`The lock ${path} ${reason}.`, {
    nextSteps: [`see whose it is (ls -l ${path}) and remove it, or name another place.`],
  });
}

function unusable(path: string, cause: unknown): CliError {
  return new CliError(`The lock ${path} cannot be opened and written (${errorCode(cause)}).`, {
    nextSteps: ['make its folder writable, or name another place.'],
    cause,
  });
}

function take(path: string, lock: Database, { refusal, nextSteps }: WorkLock): void {
  try {
    // Nothing in it has to last.
    lock.run('PRAGMA synchronous = OFF');
    lock.run('BEGIN IMMEDIATE');
    lock.run('CREATE TABLE IF NOT EXISTS holder (pid INTEGER) STRICT');
    lock.run('DELETE FROM holder');
    lock.run('INSERT INTO holder VALUES (?)', [process.pid]);
    lock.run('COMMIT');
    // A reserved lock keeps others out and still lets them read who has it.
    lock.run('BEGIN IMMEDIATE');
  } catch (cause) {
    const isBusy = errorCode(cause).startsWith('SQLITE_BUSY');
    const holder = isBusy ? holderOf(lock) : '';
    lock.close();
    if (!isBusy) throw unusable(path, cause);
    throw new CliError(`${holder} ${refusal}.`, { nextSteps, cause });
  }
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
