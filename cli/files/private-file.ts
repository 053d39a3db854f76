// Files that commands write beside others: readable by their owner alone, and never reached through a link.
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { partialName, removePartialFiles } from './partial-files.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;

/** Flags and mode of a file that must not be there yet. */
export const CREATED = { flags: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600 } as const;

/** Makes a file that must not be there yet, open for reading and writing. */
export function createPrivateFile(path: string): number {
  return openSync(path, CREATED.flags, CREATED.mode);
}

/** Opens a file that an earlier run has left; a link, or what is no file, is an error. */
export function reopenPrivateFile(path: string): number {
  const descriptor = openSync(path, O_RDWR | O_NOFOLLOW);
  const reason = foreignFileReason(fstatSync(descriptor));
  if (reason === null) return descriptor;
  closeSync(descriptor);
  throw Object.assign(new Error(`${path} ${reason}`), { code: 'EMLINK' });
}

const USER = process.geteuid?.();

/** Why something is not a file of this user's own, which goes on from its name; null where it is. */
export function foreignFileReason(stats: Stats): string | null {
  if (stats.isSymbolicLink()) return 'is a link';
  if (!stats.isFile()) return 'is not a file';
  if (USER !== undefined && USER !== stats.uid) return `belongs to another user (uid ${stats.uid})`;
  // It may have been laid by someone to have another file written to.
  return stats.nlink > 1 ? 'is a second name of another file (a hard link)' : null;
}

/** Writes all bytes at a place in a file. */
export function writeAt(descriptor: number, bytes: Uint8Array, position: number): void {
  for (let at = 0; at < bytes.length; ) {
    at += writeSync(descriptor, bytes, at, bytes.length - at, position + at);
  }
}

const tidied = new Set<string>();

/** Gives a path a new content, whole or not at all; it is on disk before the path means it. */
export function replaceFile(path: string, write: (descriptor: number) => void): void {
  // What an earlier run has left is looked for once: some files are replaced several times a second.
  if (!tidied.has(path)) removePartialFiles(path, 'crm-new');
  tidied.add(path);
  const temporary = partialName(path, 'crm-new');
  const descriptor = createPrivateFile(temporary);
  try {
    try {
      write(descriptor);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolderOf(path);
}

/** Makes names that were given or taken in the folder of a path durable; Windows does so by itself, and refuses to be asked. */
export function syncFolderOf(path: string): void {
  if (process.platform === 'win32') return;
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** What stands at a path itself, links not followed; nothing where that cannot be looked at. */
export function kindAt(path: string): 'nothing' | 'file' | 'link' | 'folder' | 'other' {
  const stats = statsAt(path);
  if (stats === undefined) return 'nothing';
  if (stats.isSymbolicLink()) return 'link';
  if (stats.isDirectory()) return 'folder';
  return stats.isFile() ? 'file' : 'other';
}

/** Whether a folder itself, and no link to one, stands there and belongs to who runs this. */
export function isOwnFolder(path: string): boolean {
  const stats = statsAt(path);
  return Boolean(stats?.isDirectory()) && (process.getuid === undefined || stats?.uid === process.getuid());
}

function statsAt(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
