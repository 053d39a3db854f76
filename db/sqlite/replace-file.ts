// Puts another database in the place of one, which is kept under a new name.
import { existsSync, linkSync, renameSync, statSync, unlinkSync } from 'node:fs';
import { DatabaseError } from '../database-error.ts';
import { checkpointAll } from './checkpoint.ts';
import { guarded } from './errors.ts';
import { realPath } from './file-check.ts';
import { syncFile } from './file-copy.ts';
import { openWriter } from './open-store.ts';
import { keptName } from './replaced-file-names.ts';

/**
 * Puts a database that is whole, and on the disk, in the place of another, in one step; whoever calls this has the lock
 * for serving.
 * @param path the file itself, no link to it
 * @param part in the same folder
 * @returns the name under which what lay there is kept, with its log if that could not be moved into it; null for nothing
 * @throws DatabaseError if it cannot be done; what lay there then lies there still
 */
export function replaceDatabase(path: string, part: string): string | null {
  if (sizeOf(`${part}-wal`) > 0) {
    throw new DatabaseError(`${part}-wal holds what could not be moved into the file.`, [
      'Check the disk for faults and for free space, then try again.',
    ]);
  }
  const real = guarded(path, () => realPath(path));
  const wasThere = sizeOf(real) > 0;
  const keptAs = keptName(path);
  if (wasThere) settle(path);
  guarded(path, () => {
    if (wasThere) keep(real, keptAs);
    syncFile(part);
    for (const stale of [`${real}-wal`, `${real}-shm`]) if (existsSync(stale)) unlinkSync(stale);
    renameSync(part, real);
  });
  return wasThere ? keptAs : null;
}

// A second name for a moment: there is no time at which nothing lies there, of which a server would make an empty one.
function keep(real: string, keptAs: string): void {
  const log = `${real}-wal`;
  if (sizeOf(log) > 0) linkSync(log, `${keptAs}-wal`);
  linkSync(real, keptAs);
}

function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0;
}

// What is damaged is kept as it lies there.
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
