// Files that commands write next to others: readable only by their owner, and never opened through a link.
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

/** Flags and mode for a file that must not exist yet. */
export const CREATED = { flags: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600 } as const;

/** Creates a file that must not exist yet, open for reading and writing. */
export function createPrivateFile(path: string): number {
  return openSync(path, CREATED.flags, CREATED.mode);
}

/** Opens a file that an earlier run left; throws for links and for anything but a file. */
export function reopenPrivateFile(path: string): number {
  const descriptor = openSync(path, O_RDWR | O_NOFOLLOW);
  const reason = foreignFileReason(fstatSync(descriptor));
  if (reason === null) return descriptor;
  closeSync(descriptor);
  throw Object.assign(new Error(`${path} ${reason}`), { code: 'EMLINK' });
}

const USER = process.geteuid?.();

/** Why a path is not a private file of this user, as words that follow the path; null if it is. */
export function foreignFileReason(stats: Stats): string | null {
  if (stats.isSymbolicLink()) return 'is a symbolic link';
  if (!stats.isFile()) return 'is not a file';
  if (USER !== undefined && USER !== stats.uid) return `belongs to another user (uid ${stats.uid})`;
  // Someone may have created it to make us write to another file.
  return stats.nlink > 1 ? 'is a hard link to another file' : null;
}

/** Writes all bytes at an offset in a file. */
export function writeAt(descriptor: number, bytes: Uint8Array, position: number): void {
  for (let at = 0; at < bytes.length; ) {
    at += writeSync(descriptor, bytes, at, bytes.length - at, position + at);
  }
}

const tidied = new Set<string>();

/** Replaces the content of a path atomically; the content is synced before the rename. */
export function replaceFile(path: string, write: (descriptor: number) => void): void {
  // Leftovers of earlier runs are removed once: some files are replaced several times per second.
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

/** Syncs the folder of a path; Windows does so by itself and does not support it. */
export function syncFolderOf(path: string): void {
  if (process.platform === 'win32') return;
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** What is at a path, links not followed; nothing if that is unknown. */
export function kindAt(path: string): 'nothing' | 'file' | 'link' | 'folder' | 'other' {
  const stats = statsAt(path);
  if (stats === undefined) return 'nothing';
  if (stats.isSymbolicLink()) return 'link';
  if (stats.isDirectory()) return 'folder';
  return stats.isFile() ? 'file' : 'other';
}

/** Whether the path is a folder, not a link to one, that belongs to the current user. */
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
