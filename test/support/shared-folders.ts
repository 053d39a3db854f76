// Folders for temporary files that other users than the one who runs the tests can reach, wherever TMPDIR lies.
import { chmodSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The usual folders for temporary files, that of this process first, as far as every user can enter them. */
export function publicFolders(): string[] {
  const places = [tmpdir(), '/tmp', '/var/tmp', '/dev/shm'].map(realOf);
  return [...new Set(places)].filter((place): place is string => place !== null && isOpenToAll(place));
}

/**
 * Makes a folder in which every user may make files and run them, to be removed by the caller; null where nothing can be
 * run in any place that all can enter.
 */
export function makeOpenFolder(): string | null {
  for (const place of publicFolders()) {
    const folder = mkdtempSync(join(place, 'crm-test-'));
    chmodSync(folder, 0o777);
    if (canRunIn(folder)) return folder;
    rmSync(folder, { recursive: true });
  }
  return null;
}

function realOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

function isOpenToAll(folder: string): boolean {
  const isEntered = (statSync(folder).mode & 0o001) !== 0;
  return isEntered && (dirname(folder) === folder || isOpenToAll(dirname(folder)));
}

/** Whether programs can be run in a folder; mounts for temporary files may refuse it (noexec). */
export function canRunIn(folder: string): boolean {
  const script = join(folder, 'runs');
  writeFileSync(script, '#!/bin/sh\n', { mode: 0o755 });
  try {
    return Bun.spawnSync([script]).success;
  } catch {
    return false;
  } finally {
    rmSync(script);
  }
}
