// Files beside a database that say who serves it: what another user put there first says nothing, and is never opened.
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

/** Makes an empty file that its owner alone can read, unless something stands there; @throws the system's error */
export function makePrivately(path: string, beside = path): void {
  let descriptor: number;
  try {
    descriptor = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return;
    throw error;
  }
  try {
    // What root makes is for whose database it is.
    const owner = USER === 0 ? statAt(beside) : undefined;
    if (owner !== undefined) fchownSync(descriptor, owner.uid, owner.gid);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Opens a small database beside a file, which is there.
 * @param file without links, whose owner the small one must have if root opens it
 * @throws DatabaseError if another user could have made it, or can write it
 */
export function openPrivately(path: string, file: string): Database {
  const before = assertPrivate(path, file);
  // A journal would be played back into it.
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
    `${path} ${reason}: what it says of who serves the database cannot be relied on.`,
    stepsFor(path),
  );
}

/**
 * Looks at the files that SQLite opens beside a database, whoever put them there.
 * @param file without links
 * @throws DatabaseError if one is a link, or another user's
 */
export function assertOwnFilesBeside(file: string): void {
  const owner = statAt(file)?.uid;
  for (const path of ['-wal', '-shm', '-journal'].map((suffix) => file + suffix)) {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) continue;
    // Root's are made on the way to its owner.
    const reason = foreignness(stats, new Set([...ownersOf(file), owner, 0]));
    if (reason === null) continue;
    throw new DatabaseError(`${path} ${reason}: it cannot be a part of this database.`, stepsFor(path));
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

// Root works on the databases of others.
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
    `See whose it is (ls -l ${path}), and move it away if no server runs.`,
    'Keep the database in a folder that only its own user may write: install -d -m 700 FOLDER',
  ];
}
