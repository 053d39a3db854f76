// Facts about a database file, apart from its content: its size, its log, its indexes, its server.
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { schemaShape } from './catalog.ts';
import { fileBytes, freeBytesAt } from './disk-space.ts';
import { realPath } from './file-check.ts';
import { type Inspection, inspectFile } from './integrity.ts';
import { type LockHolder, lockHolder } from './lock-holder.ts';
import { readOnlyReason } from './read-only-file.ts';

export interface FileFacts {
  bytes: number;
  /** Of the log, which a checkpoint moves into the file. */
  logBytes: number;
  /** Free disk space; null if the system does not report it. */
  freeBytes: number | null;
  /** Whether users other than its owner can read it; null on Windows, whose files have no such modes. */
  isOpenToOthers: boolean | null;
  folder: FolderFacts;
  /** Why it cannot be written, as a continuation of its name; null if it can. */
  onlyReadable: string | null;
  /** Damage in the file, in SQLite's words. */
  faults: string[];
  /** Indexes of the schema that do not exist. */
  missingIndexes: string[];
  /** Whether the next start will run a migration. */
  isBehind: boolean;
  server: LockHolder | null;
}

/** The folder of a database file: everyone who can write there can add files that SQLite and crm would use. */
export interface FolderFacts {
  path: string;
  /** Who can write there besides its owner; null if no one can. */
  writableBy: 'everybody' | 'its group' | null;
  /** Whether they can only add files, as in a folder for temporary files, and not replace files of others. */
  isSticky: boolean;
  /** Whether its owner is neither this user, nor the database's owner, nor root. */
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
 * Examines a file by reading all of it.
 * @throws DatabaseError if it is missing, cannot be opened, or was written by a newer crm
 */
export async function examineFile(path: string): Promise<FileFacts> {
  const real = realPath(path);
  const file = inspectFile(path);
  try {
    const faults = file.findFaults();
    // Nothing else in a damaged file is reliable.
    const shape = faults.length > 0 ? { missingIndexes: [], isBehind: false } : await compareSchema(file);
    return {
      ...shape,
      bytes: fileBytes(real),
      logBytes: fileBytes(`${real}-wal`),
      freeBytes: freeBytesAt(real),
      isOpenToOthers: process.platform === 'win32' ? null : (statSync(real).mode & 0o077) !== 0,
      folder: folderOf(real),
      onlyReadable: readOnlyReason(real),
      faults,
      server: lockHolder(real),
    };
  } finally {
    await file.close();
  }
}

async function compareSchema(file: Inspection): Promise<Pick<FileFacts, 'missingIndexes' | 'isBehind'>> {
  await file.assertNotNewer();
  const expected = await schemaShape();
  const indexes = new Set(file.indexes);
  return {
    missingIndexes: expected.indexes.filter((name) => !indexes.has(name)),
    isBehind: (await file.migrations()).length < expected.migrations,
  };
}
