// A lock on a file itself rather than on a name of it, so that no link, mount or new name leads around it.
import { readFileSync, statSync } from 'node:fs';
import { systemLibrary } from '../system-library.ts';
import type { HeldFile } from './raw-file.ts';

// flock(2). SQLite's locks are of another kind, and neither sees the other.
const LOCK_EX = 2;
const LOCK_NB = 4;
const LOCK_UN = 8;

/**
 * Locks an open file until the function that it returns is called, or the process ends; null if it is locked already.
 * Where the system's library is not found, the lock is free for all.
 */
export function lockInode({ descriptor }: HeldFile): (() => void) | null {
  const library = systemLibrary({ flock: { args: ['int', 'int'], returns: 'int' } });
  if (library === undefined) return () => undefined;
  const { flock } = library;
  return flock(descriptor, LOCK_EX | LOCK_NB) === 0 ? () => flock(descriptor, LOCK_UN) : null;
}

/** The process that has locked a file; undefined where the system does not tell. */
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
