// The names under which a restore keeps the previous files, and cleanup after an interrupted restore.
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { withoutServer } from './lock-holder.ts';
import { inodeAt } from './raw-file.ts';

const KEPT = '.before-restore-';

/** A free name for keeping the file at a path. */
export function replacedFileName(path: string): string {
  const name = `${path}${KEPT}${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}`;
  for (let count = 1; ; count++) {
    const free = count === 1 ? name : `${name}-${count}`;
    if (!existsSync(free) && !existsSync(`${free}-wal`)) return free;
  }
}

/**
 * Removes such names from a file that is not being served or restored, after a restore was interrupted.
 * @param file without links
 */
export function removeReplacedFileNames(file: string): void {
  withoutServer(file, () => {
    const inode = inodeAt(file);
    for (const name of readdirSync(dirname(file))) {
      const kept = join(dirname(file), name);
      if (!name.startsWith(`${basename(file)}${KEPT}`) || inodeAt(kept) !== inode) continue;
      takeBackLog(file, kept);
      rmSync(kept);
    }
  });
}

// The log could have lost its original name already.
function takeBackLog(file: string, kept: string): void {
  const [log, keptLog] = [`${file}-wal`, `${kept}-wal`];
  if (!existsSync(keptLog)) return;
  if (existsSync(log)) rmSync(keptLog);
  else renameSync(keptLog, log);
}
