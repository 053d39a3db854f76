// What there is to be known about a database file beside what it holds: its size, its log, its indexes, who serves it.
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { shapeOfSchema } from './catalog.ts';
import { fileBytes, freeBytesAt } from './disk-space.ts';
import { realPath } from './file-check.ts';
import { type Inspection, inspectFile } from './integrity.ts';
import { type LockHolder, lockHolder } from './lock-holder.ts';
import { whyOnlyReadable } from './read-only-file.ts';

export interface FileFacts {
  bytes: number;
  /** Of the log, which a checkpoint moves into the file. */
  logBytes: number;
  /** Of the disk under it; null where the system does not tell. */
  freeBytes: number | null;
  /** Whether others than its owner may read it; null on Windows, whose files have no such modes. */
  isOpenToOthers: boolean | null;
  folder: FolderFacts;
  /** Why it cannot be written, which goes on from its name; null where it can. */
  onlyReadable: string | null;
  /** What is wrong in it, in SQLite's words. */
  faults: string[];
  /** Indexes that the migrations make, and that are not there. */
  missingIndexes: string[];
  /** Whether a migration is still to come; the next start makes it. */
  isBehind: boolean;
  server: LockHolder | null;
}

/** The folder of a database file, where whoever may write can put files that SQLite and crm look for beside it. */
export interface FolderFacts {
  path: string;
  /** Who may write there beside its owner; null for nobody. */
  writableBy: 'everybody' | 'its group' | null;
  /** Whether those may only add files, as in a folder for temporary ones, and not replace what others put there. */
  isSticky: boolean;
  /** Whether its owner is neither this user, nor the database's, nor root. */
  isOfAnother: boolean;
}

function folderOf(file: string): FolderFacts {
  const path = dirname(file);
  const { mode, uid } = statSync(path);
  const user = process.geteuid?.();
  if (user === undefined) return { path, writableBy: null, isSticky: false, isOfAnother: false };
  return {
    path,
    writableBy: (mode & 0o002) !== 0 ? 'everybody' : (mode & 0o020) !== 0 ? 'its group' : null,
    isSticky: (mode & 0o1000) !== 0,
    isOfAnother: ![user, statSync(file).uid, 0].includes(uid),
  };
}

/**
 * Looks at a file, and reads all of it.
 * @throws DatabaseError if it is missing, cannot be opened at all, or a newer crm wrote it
 */
export async function examineFile(path: string): Promise<FileFacts> {
  const real = realPath(path);
  const file = inspectFile(path);
  try {
    const faults = file.findFaults();
    // Nothing else that a damaged file says is to be relied on.
    const shape = faults.length > 0 ? { missingIndexes: [], isBehind: false } : await compareSchema(file);
    return {
      ...shape,
      bytes: fileBytes(real),
      logBytes: fileBytes(`${real}-wal`),
      freeBytes: freeBytesAt(real),
      isOpenToOthers: process.platform === 'win32' ? null : (statSync(real).mode & 0o077) !== 0,
      folder: folderOf(real),
      onlyReadable: whyOnlyReadable(real),
      faults,
      server: lockHolder(real),
    };
  } finally {
    await file.close();
  }
}

async function compareSchema(file: Inspection): Promise<Pick<FileFacts, 'missingIndexes' | 'isBehind'>> {
  await file.assertNotNewer();
  const expected = await shapeOfSchema();
  const indexes = new Set(file.indexes);
  return {
    missingIndexes: expected.indexes.filter((name) => !indexes.has(name)),
    isBehind: (await file.migrations()).length < expected.migrations,
  };
}
