// Files next to a database that say who serves it: those that another user created are not trusted, and never opened.
import { constants, Database } from 'bun:sqlite';
import {
  closeSync,
  fchownSync,
  constants as fsConstants,
  lstatSync,
  openSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseError } from '../database-error.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fsConstants;
const { SQLITE_OPEN_NOFOLLOW, SQLITE_OPEN_READWRITE } = constants;
const OTHERS = 0o077;
// Undefined on Windows, whose files have no such owners.
const USER = process.geteuid?.();

/** Creates an empty file that only its owner can read, unless it exists; @throws the system's error */
export function createLockFile(path: string, beside = path): void {
  let descriptor: number;
  try {
    descriptor = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return;
    throw error;
  }
  try {
    // Files created by root belong to the owner of the database.
    const owner = USER === 0 ? statAt(beside) : undefined;
    if (owner !== undefined) fchownSync(descriptor, owner.uid, owner.gid);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Opens a small database next to an existing file.
 * @param file without links; if root opens the small database, both must have the same owner
 * @throws DatabaseError if another user could have created it, or can write to it
 */
export function openLockFile(path: string, file: string): Database {
  const before = assertPrivate(path, file);
  // A journal would be applied to it.
  for (const name of [`${path}-journal`, `${path}-wal`])
    if (lstatSync(name, { throwIfNoEntry: false }) !== undefined) assertPrivate(name, file);
  const database = new Database(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW);
  if (lstatSync(path, { throwIfNoEntry: false })?.ino === before.ino) return database;
  database.close();
  throw new DatabaseError(`${path} was replaced while it was opened.`, stepsFor(path));
}

function assertPrivate(path: string, file: string): Stats {
  const stats = lstatSync(path);
  const reason = foreignness(stats, ownersOf(file)) ?? openness(stats);
  if (reason === null) return stats;
  throw new DatabaseError(
    `${path} ${reason}, so its information about the server of this database is not reliable.`,
    stepsFor(path),
  );
}

/**
 * Checks the files that SQLite opens next to a database.
 * @param file without links
 * @throws DatabaseError if one is a link, or belongs to another user
 */
export function assertOwnFilesBeside(file: string): void {
  const owner = statAt(file)?.uid;
  for (const path of ['-wal', '-shm', '-journal'].map((suffix) => file + suffix)) {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) continue;
    // Files created by root are about to get its owner.
    const reason = foreignness(stats, new Set([...ownersOf(file), owner, 0]));
    if (reason === null) continue;
    throw new DatabaseError(`${path} ${reason}, so it is not part of this database.`, stepsFor(path));
  }
}

function foreignness(stats: Stats, owners: ReadonlySet<number | undefined>): string | null {
  if (stats.isSymbolicLink()) return 'is a link';
  if (!stats.isFile()) return 'is not a file';
  if (USER === undefined || owners.has(stats.uid)) return null;
  return `belongs to another user (uid ${stats.uid}), not to this one (uid ${USER})`;
}

function openness({ mode, nlink }: Stats): string | null {
  if (USER !== undefined && (mode & OTHERS) !== 0) return 'can be opened by other users';
  return nlink > 1 ? 'has several names (hard links)' : null;
}

// Root works with databases of other users.
function ownersOf(file: string): Set<number | undefined> {
  const owners = new Set([USER]);
  if (USER === 0) owners.add((statAt(file) ?? statAt(dirname(file)))?.uid);
  return owners;
}

function statAt(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

function stepsFor(path: string): string[] {
  return [
    `Check its owner (ls -l ${path}), and move it away if no server is running.`,
    'Keep the database in a folder that only its owner can write to: install -d -m 700 FOLDER',
  ];
}
