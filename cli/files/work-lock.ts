// Keeps a second run of the same work out while one runs; the operating system frees the lock of a killed process.
import { constants, Database } from 'bun:sqlite';
import { lstatSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CliError, errorCode } from '../errors.ts';
import { sha256 } from './digest.ts';

const { SQLITE_OPEN_CREATE, SQLITE_OPEN_NOFOLLOW, SQLITE_OPEN_READWRITE } = constants;

/** Work that is done once at a time. */
export interface LockedWork {
  kind: 'import' | 'export';
  /** Tells it from other work of its kind. */
  subject: string;
  /** Goes on from "Process 123". */
  refusal: string;
  nextSteps: string[];
}

/**
 * Locks a piece of work; the function it returns frees it.
 * @throws CliError that names the process which has it
 */
export function lockWork(work: LockedWork): () => void {
  const name = `crm-${work.kind}-${process.getuid?.() ?? 0}-${sha256(work.subject).slice(0, 32)}`;
  const path = join(realpathSync(tmpdir()), name);
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
    return new Database(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW);
  } catch (cause) {
    throw unusable(path, cause);
  }
}

function unusable(path: string, cause: unknown): CliError {
  return new CliError(`The lock ${path} cannot be opened and written (${errorCode(cause)}).`, {
    nextSteps: ['remove it, or name another place for temporary files in TMPDIR.'],
    cause,
  });
}

function take(path: string, lock: Database, { refusal, nextSteps }: LockedWork): void {
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
