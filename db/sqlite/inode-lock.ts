// A lock on a file itself rather than on one of its names, so that links, mounts or new names do not bypass it.
import { readFileSync, statSync } from 'node:fs';
import { systemLibrary } from '../system-library.ts';
import type { RawFile } from './raw-file.ts';

// flock(2). SQLite's locks are of another kind, and the two kinds ignore each other.
const LOCK_EX = 2;
const LOCK_NB = 4;
const LOCK_UN = 8;

/**
 * Locks an open file until the returned function is called or the process ends; null if it is locked already. If the
 * system's library is not found, nothing is locked.
 */
export function lockInode({ descriptor }: RawFile): (() => void) | null {
  const library = systemLibrary({ flock: { args: ['int', 'int'], returns: 'int' } });
  if (library === undefined) return () => undefined;
  const { flock } = library;
  return flock(descriptor, LOCK_EX | LOCK_NB) === 0 ? () => flock(descriptor, LOCK_UN) : null;
}

/** The process that has locked a file; undefined if the system does not report it. */
export function inodeLockHolder(path: string): number | undefined {
  try {
    const { ino } = statSync(path, { bigint: true });
    const line = new RegExp(`FLOCK +ADVISORY +WRITE +(\\d+) [\\da-f:]+:${ino} `);
    const pid = Number(line.exec(readFileSync('/proc/locks', 'utf8'))?.[1] ?? 0);
    return pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}
