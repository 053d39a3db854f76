// Whether what lies at a path is ours, and whether the log beside it belongs to it.
import { DatabaseError } from '../database-error.ts';
import { notADatabase } from './errors.ts';
import { APPLICATION_ID, type MainFile, readMainFile } from './main-file.ts';
import type { HeldFile } from './raw-file.ts';
import { type LogFile, readLogFile } from './wal-file.ts';

const LOOKS_MAX = 4;
const BETWEEN_LOOKS_MS = 50;

/**
 * Looks at a file and its log before SQLite does.
 * @param path as the operator named it
 * @param logPath where SQLite has the log
 * @param file null if there is none, or nothing in it
 * @throws DatabaseError if the file is another program's, or the log another file's
 */
export function assertOurs(path: string, logPath: string, file: HeldFile | null): void {
  for (let looks = 1; ; looks++) {
    const fault = faultOf(path, logPath, file);
    if (fault === null) return;
    // Another process may have moved the log into the file between the looks at the two.
    if (looks === LOOKS_MAX) throw fault;
    Bun.sleepSync(BETWEEN_LOOKS_MS);
  }
}

// SQLite applies whatever log lies beside a file, and deletes one that lies beside an empty file.
function faultOf(path: string, logPath: string, file: HeldFile | null): DatabaseError | null {
  const log = readLogFile(logPath);
  if (file === null) return log === null ? null : orphaned(path, log);
  const main = readMainFile(file);
  if (main === null) return notADatabase(path);
  if (isForeign(main, log)) return foreign(path);
  if (log === null) return null;
  if (!belongTogether(main, log)) return mismatched(path, log);
  return isCutShort(main, log) ? cutShort(path) : null;
}

// A database without anything in it may become ours.
function isForeign({ applicationId, schemaVersion }: MainFile, log: LogFile | null): boolean {
  if (applicationId === APPLICATION_ID) return false;
  const isLogOurs = log?.firstPages[0]?.applicationId === APPLICATION_ID;
  return applicationId !== 0 || schemaVersion > 0 || (log !== null && !isLogOurs);
}

// A log was written on the state that the file holds, or on one that is contained in the log itself.
function belongTogether(main: MainFile, log: LogFile): boolean {
  const [oldest] = log.firstPages;
  const newest = log.firstPages.at(-1);
  if (log.pageSize !== main.pageSize) return false;
  if (oldest === undefined || newest === undefined) return true;
  if (oldest.applicationId !== main.applicationId) return false;
  // SQLite's own copies count the schema's version on, and have their pages in another order.
  if (main.schemaVersion > newest.schemaVersion) return false;
  const isMarked = main.mark > 0;
  return !isMarked || (oldest.mark - 1 <= main.mark && main.mark <= newest.mark);
}

// SQLite sees this by itself, but not where a log lies beside the file. Where the log holds the first page as it is in the
// file, a checkpoint was under way, and the log has the rest too.
function isCutShort(main: MainFile, { firstPages: [oldest] }: LogFile): boolean {
  return main.isShort && (oldest === undefined || main.mark < oldest.mark);
}

function foreign(path: string): DatabaseError {
  return new DatabaseError(`${path} is an SQLite database of another program.`, [
    'Name a database of crm, or a new file, with --db PATH.',
  ]);
}

function orphaned(path: string, { transactions }: LogFile): DatabaseError {
  return new DatabaseError(
    `${path}-wal holds ${transactions} transactions of a database that is not there any more.`,
    [
      `Put back the file that was at ${path}: then nothing is lost.`,
      `To begin anew without them, move the log away: mv ${path}-wal ${path}-wal.old`,
    ],
  );
}

function mismatched(path: string, { transactions }: LogFile): DatabaseError {
  return new DatabaseError(
    `${path} is not the file that ${path}-wal belongs to: that holds ${transactions} transactions of another state of it, and both together would be neither.`,
    [
      `Put back the file that was at ${path}: then nothing is lost.`,
      `To go on with this file, without those transactions, move the log away: mv ${path}-wal ${path}-wal.old`,
    ],
  );
}

function cutShort(path: string): DatabaseError {
  return new DatabaseError(`The database ${path} was cut short: its end is missing.`, [
    `Restore the newest backup of the file, and move its log away: mv ${path}-wal ${path}-wal.old`,
  ]);
}
