// The names under which restores keep what they replace, and what they leave of them when they are cut off.
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { whileUnserved } from './lock-holder.ts';
import { inodeOf } from './raw-file.ts';

const KEPT = '.before-restore-';

/** A name that is free, for what lies at a path. */
export function keptName(path: string): string {
  const name = `${path}${KEPT}${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}`;
  for (let count = 1; ; count++) {
    const free = count === 1 ? name : `${name}-${count}`;
    if (!existsSync(free) && !existsSync(`${free}-wal`)) return free;
  }
}

/**
 * Takes such names from a file that nobody serves or restores: a restore was cut off before it put another in its place.
 * @param file without links
 */
export function removeKeptNames(file: string): void {
  whileUnserved(file, () => {
    const inode = inodeAt(file);
    for (const name of readdirSync(dirname(file))) {
      const kept = join(dirname(file), name);
      if (!name.startsWith(`${basename(file)}${KEPT}`) || inodeAt(kept) !== inode) continue;
      takeBackLog(file, kept);
      rmSync(kept);
    }
  });
}

// The log may have lost its first name already.
function takeBackLog(file: string, kept: string): void {
  const [log, keptLog] = [`${file}-wal`, `${kept}-wal`];
  if (!existsSync(keptLog)) return;
  if (existsSync(log)) rmSync(keptLog);
  else renameSync(keptLog, log);
}

function inodeAt(path: string): string {
  return inodeOf(statSync(path, { bigint: true, throwIfNoEntry: false }));
}
