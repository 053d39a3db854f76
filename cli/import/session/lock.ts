// Keeps a second import of the same rows out while one runs; the operating system frees the lock of a killed process.
import { constants, Database } from 'bun:sqlite';
import { lstatSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CliError, errorCode } from '../../errors.ts';
import { sha256 } from '../../files/digest.ts';

const { SQLITE_OPEN_CREATE, SQLITE_OPEN_NOFOLLOW, SQLITE_OPEN_READWRITE } = constants;

/**
 * Locks what `subject` stands for; the function it returns frees it.
 * @throws CliError that names the process which has it
 */
export function lockImport(subject: string): () => void {
  const name = `crm-import-${process.getuid?.() ?? 0}-${sha256(subject).slice(0, 32)}`;
  const path = join(realpathSync(tmpdir()), name);
  for (;;) {
    const lock = open(path);
    const file = fileAt(path);
    take(lock);
    // Whoever had it before may have removed the file that was opened here: then the lock keeps nobody out.
    if (file !== undefined && file === fileAt(path)) {
      return () => {
        rmSync(path, { force: true });
        lock.close();
      };
    }
    lock.close();
  }
}

function open(path: string): Database {
  try {
    return new Database(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW);
  } catch (cause) {
    throw new CliError(`The lock ${path} cannot be opened.`, {
      nextSteps: ['remove it, or name another place for temporary files in TMPDIR.'],
      cause,
    });
  }
}

function take(lock: Database): void {
  try {
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
    if (!isBusy) throw cause;
    throw new CliError(`${holder} is importing the same rows into the same organization.`, {
      nextSteps: ['wait for it to end, then run the same command again: it says what became of them.'],
      cause,
    });
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
