// Puts another database in the place of one, which is kept under a new name.
import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { checkpointAll } from './checkpoint.ts';
import { realPath } from './file-check.ts';
import { openWriter } from './open-store.ts';

/**
 * Puts a database that is whole, and on the disk, in the place of another, in one step; whoever calls this has the lock
 * for serving.
 * @param part in the same folder
 * @param keptAs name under which what lay there is kept, with its log if that could not be moved into it
 * @returns whether anything lay there
 */
export function replaceDatabase(path: string, part: string, keptAs: string): boolean {
  const real = realPath(path);
  const log = `${real}-wal`;
  const wasThere = existsSync(real) && statSync(real).size > 0;
  if (wasThere) {
    settle(path);
    // A second name for a moment: there is no time at which nothing lies there, of which a server would make an empty one.
    linkSync(real, keptAs);
    if (existsSync(log) && statSync(log).size > 0) linkSync(log, `${keptAs}-wal`);
  }
  for (const stale of [log, `${real}-shm`]) rmSync(stale, { force: true });
  renameSync(part, real);
  return wasThere;
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
