// What can be wrong with a database file, in words for the operator and with the next steps to take.

import { DatabaseError } from '../database-error.ts';
import { isDiskFull } from './disk-space.ts';

interface Advice {
  /** What the codes begin with that it is about. */
  codes: readonly string[];
  /** Goes on from "The database PATH". */
  reason: string;
  nextSteps: readonly string[];
}

const NOT_WRITABLE: Advice = {
  codes: ['SQLITE_CANTOPEN', 'SQLITE_READONLY', 'SQLITE_PERM'],
  reason: 'cannot be opened for writing',
  nextSteps: ['Give the user who runs crm the right to write the file and its folder, or use --db PATH.'],
};
const READ_ONLY: Advice = {
  codes: ['EROFS'],
  reason: 'is on a read-only file system',
  nextSteps: [
    'Make that writable (mount -o remount,rw), or work on a copy: crm backup FILE, then crm restore FILE --confirm --db NEWFILE',
  ],
};
const NOT_A_DATABASE: Advice = {
  codes: ['SQLITE_NOTADB'],
  reason: 'is no SQLite database',
  nextSteps: ['Name another file with --db PATH.'],
};
const DISK_FULL: Advice = {
  codes: ['SQLITE_FULL', 'ENOSPC', 'EDQUOT'],
  reason: 'has no space left on its disk',
  nextSteps: ['Free some space there, then try again.'],
};
const ADVICE: readonly Advice[] = [
  NOT_WRITABLE,
  READ_ONLY,
  NOT_A_DATABASE,
  DISK_FULL,
  {
    codes: ['SQLITE_BUSY'],
    reason: 'is busy',
    nextSteps: ['Wait for the other program that is writing to it, then try again.'],
  },
  {
    codes: ['SQLITE_CORRUPT'],
    reason: 'is damaged',
    nextSteps: ['Restore the newest backup of the file.', 'Check the disk for faults.'],
  },
  {
    codes: ['SQLITE_IOERR', 'EIO'],
    reason: 'cannot be read or written: its disk failed',
    nextSteps: [
      'Check the disk for faults, then try again. Keep the -wal file beside it: it holds what the file may not.',
      'If the disk cannot be mended, restore the newest backup.',
    ],
  },
];

/** Says for the operator what is wrong with a database file; an error about something else comes back as it is. */
export function explainFileError(path: string, error: unknown): unknown {
  const code = sqliteCode(error);
  // A log or its index that cannot be made longer is told as a failure of the disk.
  if (code.startsWith('SQLITE_IOERR') && isDiskFull(path)) return diskFull(path, error);
  const known = ADVICE.find(({ codes }) => codes.some((one) => (code || errorCode(error)).startsWith(one)));
  const advice = known ?? systemAdvice(error);
  return advice === undefined ? error : fileError(path, advice, error);
}

/** The error of a file for which there is no room. */
export function diskFull(path: string, cause?: unknown): DatabaseError {
  return fileError(path, DISK_FULL, cause);
}

/** The error of a file that is something else. */
export function notADatabase(path: string): DatabaseError {
  return fileError(path, NOT_A_DATABASE);
}

/** The error of a file that may not be written or made. */
export function notWritable(path: string, cause: unknown): DatabaseError {
  const known = [DISK_FULL, READ_ONLY].find(({ codes }) => codes.includes(errorCode(cause)));
  return fileError(path, known ?? NOT_WRITABLE, cause);
}

function fileError(
  path: string,
  { reason, nextSteps }: Omit<Advice, 'codes'>,
  cause?: unknown,
): DatabaseError {
  return new DatabaseError(`The database ${path} ${reason}.`, nextSteps, cause);
}

// An error of the operating system about the file itself, such as ENAMETOOLONG.
function systemAdvice(error: unknown): Omit<Advice, 'codes'> | undefined {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return undefined;
  const reason = `cannot be opened (${error.code})`;
  return { reason, nextSteps: ['Check the path, or name another with --db PATH.'] };
}

/** Runs what opens a file, and explains why it could not be opened. */
export function guarded<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw explainFileError(path, error);
  }
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** The name of SQLite's result code that an error carries, '' if it carries none. */
export function sqliteCode(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return String(error.code).startsWith('SQLITE_') ? String(error.code) : '';
}

/** Whether another process has the lock that a statement needs. */
export function isBusy(error: unknown): boolean {
  return sqliteCode(error).startsWith('SQLITE_BUSY');
}

/** Whether the database cannot be reached or written for now; what was to be done was not done. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseError) return true;
  // Given up to another server; the driver has no code for it.
  if (error instanceof Error && error.message === 'Database has closed') return true;
  return /^SQLITE_(?:BUSY|FULL|READONLY|CANTOPEN)/.test(sqliteCode(error));
}

/** Whether what a file holds makes no sense. */
export function isDamage(error: unknown): boolean {
  return /^SQLITE_(?:CORRUPT|NOTADB)/.test(sqliteCode(error));
}

/** Whether the disk failed under a statement, after which nothing the connection says can be trusted. */
export function isDiskFailure(error: unknown): boolean {
  return /^SQLITE_(?:IOERR|CORRUPT)/.test(sqliteCode(error));
}

/** Whether what a statement wrote could not be written. */
export function isWriteFailure(error: unknown): boolean {
  return /^SQLITE_(?:FULL|IOERR_(?:WRITE|FSYNC|DIR_FSYNC|TRUNCATE))/.test(sqliteCode(error));
}
