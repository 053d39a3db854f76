// Replaces a database by another one, and keeps the previous one under a new name.
import { existsSync, linkSync, renameSync, unlinkSync } from 'node:fs';
import { DatabaseError } from '../database-error.ts';
import { checkpointAll } from './checkpoint.ts';
import { fileBytes } from './disk-space.ts';
import { withFileErrors } from './errors.ts';
import { realPath } from './file-check.ts';
import { syncFile } from './file-copy.ts';
import { openWriter } from './open-store.ts';
import { replacedFileName } from './replaced-file-names.ts';

/**
 * Replaces a database in one step by one that is complete and synced to the disk; the caller must hold the lock for
 * serving.
 * @param path the file itself, not a link to it
 * @param part in the same folder
 * @returns the name under which the previous file is kept, with its log if that could not be moved into it; null for none
 * @throws DatabaseError if that fails; the previous file is then still in place
 */
export function replaceDatabase(path: string, part: string): string | null {
  if (fileBytes(`${part}-wal`) > 0) {
    throw new DatabaseError(`${part}-wal contains data that could not be moved into the file.`, [
      'Check the disk for errors and for free space, then try again.',
    ]);
  }
  const real = withFileErrors(path, () => realPath(path));
  const wasThere = fileBytes(real) > 0;
  const keptAs = replacedFileName(path);
  if (wasThere) settle(path);
  withFileErrors(path, () => {
    if (wasThere) keep(real, keptAs);
    syncFile(part);
    for (const stale of [`${real}-wal`, `${real}-shm`]) if (existsSync(stale)) unlinkSync(stale);
    renameSync(part, real);
  });
  return wasThere ? keptAs : null;
}

// A second name for a moment, so that there is always a file, because a server would create an empty one.
function keep(real: string, keptAs: string): void {
  const log = `${real}-wal`;
  if (fileBytes(log) > 0) linkSync(log, `${keptAs}-wal`);
  linkSync(real, keptAs);
}

// A damaged file is kept unchanged.
function settle(path: string): void {
  try {
    const { writer, held } = openWriter(path, false);
    try {
      checkpointAll(writer);
    } finally {
      writer.close();
      held.release();
    }
  } catch {
    return;
  }
}
