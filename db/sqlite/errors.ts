// Problems with a database file, in words for the operator and with next steps.

import { DatabaseError } from '../database-error.ts';
import { isDiskFull } from './disk-space.ts';

interface Advice {
  /** Prefixes of the error codes. */
  codes: readonly string[];
  /** Continues "The database PATH". */
  reason: string;
  nextSteps: readonly string[];
}

const NOT_WRITABLE: Advice = {
  codes: ['SQLITE_CANTOPEN', 'SQLITE_READONLY', 'SQLITE_PERM'],
  reason: 'cannot be opened for writing',
  nextSteps: [
    'Give the user who runs crm write permission for the file and its folder, or use another file with --db PATH.',
  ],
};
const READ_ONLY: Advice = {
  codes: ['EROFS'],
  reason: 'is on a read-only file system',
  nextSteps: [
    'Make the file system writable (mount -o remount,rw), or work on a copy: crm backup FILE, then crm restore FILE --confirm --db NEWFILE',
  ],
};
const NOT_A_DATABASE: Advice = {
  codes: ['SQLITE_NOTADB'],
  reason: 'is not an SQLite database',
  nextSteps: ['Use another file with --db PATH.'],
};
const DISK_FULL: Advice = {
  codes: ['SQLITE_FULL', 'ENOSPC', 'EDQUOT'],
  reason: 'cannot be written because its disk is full',
  nextSteps: ['Free some space on the disk, then try again.'],
};
const ADVICE: readonly Advice[] = [
  NOT_WRITABLE,
  READ_ONLY,
  NOT_A_DATABASE,
  DISK_FULL,
  {
    codes: ['SQLITE_BUSY'],
    reason: 'is busy',
    nextSteps: ['Wait until the other program has finished writing to it, then try again.'],
  },
  {
    codes: ['SQLITE_CORRUPT'],
    reason: 'is damaged',
    nextSteps: ['Restore the newest backup of the file.', 'Check the disk for errors.'],
  },
  {
    codes: ['SQLITE_IOERR', 'EIO'],
    reason: 'cannot be read or written because its disk failed',
    nextSteps: [
      'Check the disk for errors, then try again. Keep the -wal file: it can contain data that the database file does not.',
      'If the disk cannot be repaired, restore the newest backup.',
    ],
  },
];

/** Explains an error of a database file to the operator; other errors are returned unchanged. */
export function explainFileError(path: string, error: unknown): unknown {
  const code = sqliteCode(error);
  // A full disk for the log or its index looks like a disk failure.
  if (code.startsWith('SQLITE_IOERR') && isDiskFull(path)) return diskFull(path, error);
  const known = ADVICE.find(({ codes }) => codes.some((one) => (code || errorCode(error)).startsWith(one)));
  const advice = known ?? systemAdvice(error);
  return advice === undefined ? error : fileError(path, advice, error);
}

/** The error of a file without disk space. */
export function diskFull(path: string, cause?: unknown): DatabaseError {
  return fileError(path, DISK_FULL, cause);
}

/** The error of a file that is not a database. */
export function notADatabase(path: string): DatabaseError {
  return fileError(path, NOT_A_DATABASE);
}

/** The error of a file that cannot be written or created. */
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

// An operating system error about the file itself, such as ENAMETOOLONG.
function systemAdvice(error: unknown): Omit<Advice, 'codes'> | undefined {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return undefined;
  const reason = `cannot be opened (${error.code})`;
  return { reason, nextSteps: ['Check the path, or use another one with --db PATH.'] };
}

/** Runs a function that opens a file, and explains its errors. */
export function withFileErrors<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw explainFileError(path, error);
  }
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** The name of SQLite's result code of an error, or ''. */
function sqliteCode(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return String(error.code).startsWith('SQLITE_') ? String(error.code) : '';
}

/** Whether another process holds the lock that a statement needs. */
export function isBusy(error: unknown): boolean {
  return sqliteCode(error).startsWith('SQLITE_BUSY');
}

/** Whether the database cannot be reached or written right now; the statement had no effect. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseError) return true;
  // Released to another server; the driver has no code for it.
  if (error instanceof Error && error.message === 'Database has closed') return true;
  return /^SQLITE_(?:BUSY|FULL|READONLY|CANTOPEN)/.test(sqliteCode(error));
}

/** Whether the content of a file is damaged. */
export function isDamage(error: unknown): boolean {
  return /^SQLITE_(?:CORRUPT|NOTADB)/.test(sqliteCode(error));
}

/** Whether the disk failed during a statement, so that the connection can no longer be trusted. */
export function isDiskFailure(error: unknown): boolean {
  return /^SQLITE_(?:IOERR|CORRUPT)/.test(sqliteCode(error));
}

/** Whether the data of a statement could not be written. */
export function isWriteFailure(error: unknown): boolean {
  return /^SQLITE_(?:FULL|IOERR_(?:WRITE|FSYNC|DIR_FSYNC|TRUNCATE))/.test(sqliteCode(error));
}
