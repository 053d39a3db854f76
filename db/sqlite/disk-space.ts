// Whether there is disk space for a database: SQLite reports a full disk in several ways, some of which look like damage.
import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

// Space for a small commit: its pages in the log, and the log's index.
const NEEDED_BYTES = 1024 * 1024;

/** Size of a file; 0 if it does not exist. */
export function fileBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Free bytes on the disk of a file; null if the system does not report them. */
export function freeBytesAt(path: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize;
  } catch {
    return null;
  }
}

/** Whether the disk of a file has no space for a commit; false if the system does not report it. */
export function isDiskFull(path: string): boolean {
  const bytes = freeBytesAt(path);
  return bytes !== null && bytes < NEEDED_BYTES;
}
