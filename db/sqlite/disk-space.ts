// Whether there is room left for a database: SQLite tells of a full disk in several ways, some of which sound like damage.
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';

// What a small commit may take: its pages in the log, and the log's index.
const NEEDED_BYTES = 1024 * 1024;

/** Whether the disk that holds a file has no room for a commit; false where the system does not tell. */
export function isDiskFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < NEEDED_BYTES;
  } catch {
    return false;
  }
}
