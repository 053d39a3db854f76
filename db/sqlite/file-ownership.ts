// Whether the file at a path belongs to crm, and the log next to it to the file.
import { DatabaseError } from '../database-error.ts';
import { notADatabase } from './errors.ts';
import { APPLICATION_ID, type MainFile, readMainFile } from './main-file.ts';
import type { RawFile } from './raw-file.ts';
import { readWalFile, type WalFile } from './wal-file.ts';

const LOOKS_MAX = 4;
const BETWEEN_LOOKS_MS = 50;

/**
 * Checks a file and its log before SQLite opens them.
 * @param path the name that the operator gave
 * @param logPath the path of SQLite's log
 * @param file null if there is none, or it is empty
 * @throws DatabaseError if the file belongs to another program, or the log to another file
 */
export function assertOwnership(path: string, logPath: string, file: RawFile | null): void {
  for (let looks = 1; ; looks++) {
    const fault = faultOf(path, logPath, file);
    if (fault === null) return;
    // Another process could have moved the log into the file between the two checks.
    if (looks === LOOKS_MAX) throw fault;
    Bun.sleepSync(BETWEEN_LOOKS_MS);
  }
}

// SQLite applies any log next to a file, and deletes one next to an empty file.
function faultOf(path: string, logPath: string, file: RawFile | null): DatabaseError | null {
  const log = readWalFile(logPath);
  if (file === null) return log === null ? null : orphaned(path, log);
  const main = readMainFile(file);
  if (main === null) return notADatabase(path);
  if (isForeign(main, log)) return foreign(path);
  if (log === null) return null;
  if (!belongTogether(main, log)) return mismatched(path, log);
  return isCutShort(main, log) ? cutShort(path) : null;
}

// An empty database can become ours.
function isForeign({ applicationId, schemaVersion }: MainFile, log: WalFile | null): boolean {
  if (applicationId === APPLICATION_ID) return false;
  const isLogOurs = log?.firstPages[0]?.applicationId === APPLICATION_ID;
  return applicationId !== 0 || schemaVersion > 0 || (log !== null && !isLogOurs);
}

// A log was written for the state in the file, or for one that the log itself contains.
function belongTogether(main: MainFile, log: WalFile): boolean {
  const [oldest] = log.firstPages;
  const newest = log.firstPages.at(-1);
  if (log.pageSize !== main.pageSize) return false;
  if (oldest === undefined || newest === undefined) return true;
  if (oldest.applicationId !== main.applicationId) return false;
  // SQLite's own copies increment the schema version, and have their pages in another order.
  if (main.schemaVersion > newest.schemaVersion) return false;
  const isMarked = main.mark > 0;
  return !isMarked || (oldest.mark - 1 <= main.mark && main.mark <= newest.mark);
}

// SQLite detects this itself, unless there is a log. If the log's first page equals the file's, a checkpoint was in
// progress, and the log has the rest as well.
function isCutShort(main: MainFile, { firstPages: [oldest] }: WalFile): boolean {
  return main.isShort && (oldest === undefined || main.mark < oldest.mark);
}

function foreign(path: string): DatabaseError {
  return new DatabaseError(`${path} is an SQLite database that belongs to another program.`, [
    'Use --db PATH to specify a crm database or a new file.',
  ]);
}

function orphaned(path: string, { transactions }: WalFile): DatabaseError {
  return new DatabaseError(
    `${path}-wal holds ${transactions} transactions of a database file that no longer exists.`,
    [
      `Put the file back at ${path}, so that nothing is lost.`,
      `To start with an empty database, without those transactions, move the log away: mv ${path}-wal ${path}-wal.old`,
    ],
  );
}

function mismatched(path: string, { transactions }: WalFile): DatabaseError {
  return new DatabaseError(
    `${path} is not the file that ${path}-wal belongs to: the log holds ${transactions} transactions of a different state, and applying them would damage the database.`,
    [
      `Put the file that belongs to the log back at ${path}, so that nothing is lost.`,
      `To continue with this file, without those transactions, move the log away: mv ${path}-wal ${path}-wal.old`,
    ],
  );
}

function cutShort(path: string): DatabaseError {
  return new DatabaseError(`The database ${path} is truncated: its end is missing.`, [
    `Restore the newest backup of the file, and move its log away: mv ${path}-wal ${path}-wal.old`,
  ]);
}
