// Whether there is room left for a database: SQLite tells of a full disk in several ways, some of which sound like damage.
import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

// What a small commit may take: its pages in the log, and the log's index.
const NEEDED_BYTES = 1024 * 1024;

/** How long a file is; 0 where there is none. */
export function fileBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Bytes that are left on the disk that holds a file; null where the system does not tell. */
export function freeBytesAt(path: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize;
  } catch {
    return null;
  }
}

/** Whether the disk that holds a file has no room for a commit; false where the system does not tell. */
export function isDiskFull(path: string): boolean {
  const bytes = freeBytesAt(path);
  return bytes !== null && bytes < NEEDED_BYTES;
}
