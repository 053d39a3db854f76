// What there is to be known about a database file beside what it holds: its size, its log, its indexes, who serves it.
import { statSync } from 'node:fs';
import { shapeOfSchema } from './catalog.ts';
import { fileBytes, freeBytesAt } from './disk-space.ts';
import { realPath } from './file-check.ts';
import { type Inspection, inspectFile } from './integrity.ts';
import { type LockHolder, lockHolder } from './lock-holder.ts';

export interface FileFacts {
  bytes: number;
  /** Of the log, which a checkpoint moves into the file. */
  logBytes: number;
  /** Of the disk under it; null where the system does not tell. */
  freeBytes: number | null;
  /** Whether others than its owner may read it; null on Windows, whose files have no such modes. */
  isOpenToOthers: boolean | null;
  /** What is wrong in it, in SQLite's words. */
  faults: string[];
  /** Indexes that the migrations make, and that are not there. */
  missingIndexes: string[];
  /** Whether a migration is still to come; the next start makes it. */
  isBehind: boolean;
  server: LockHolder | null;
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
