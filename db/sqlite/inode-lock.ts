// A lock on a file itself rather than on a name of it, so that no link, mount or new name leads around it.
import { dlopen } from 'bun:ffi';
import { readFileSync, statSync } from 'node:fs';
import type { HeldFile } from './held-file.ts';

// flock(2). SQLite's locks are of another kind, and neither sees the other.
const LOCK_EX = 2;
const LOCK_NB = 4;
const LOCK_UN = 8;
const LIBRARIES: Partial<Record<NodeJS.Platform, string>> = {
  linux: 'libc.so.6',
  darwin: 'libSystem.B.dylib',
};

/** The system's C library; undefined where its name is not known. */
export const LIBC = LIBRARIES[process.platform];

/**
 * Locks an open file until the function that it returns is called, or the process ends; null if it is locked already.
 * Where the system's library is not found, the lock is free for all.
 */
export function lockInode({ descriptor }: HeldFile): (() => void) | null {
  const flock = systemFlock();
  if (flock === undefined) return () => undefined;
  return flock(descriptor, LOCK_EX | LOCK_NB) === 0 ? () => flock(descriptor, LOCK_UN) : null;
}

function systemFlock(): ((file: number, operation: number) => number) | undefined {
  if (LIBC === undefined) return undefined;
  try {
    return dlopen(LIBC, { flock: { args: ['int', 'int'], returns: 'int' } }).symbols.flock;
  } catch {
    return undefined;
  }
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
