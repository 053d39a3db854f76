// Backups of a database file: each knows what it should hold, so that it can be checked wherever it lies.
import { sql } from 'kysely';
import { damaged, FileCopy, inspectFile, ORIGINAL, type TableShape } from '../maintenance.ts';
import { DatabaseError } from '../store.ts';
import { BACKUP_NOTE, findBackupNote, setBackupNote } from '../tables/backup-note.ts';
import { at, type CopySource } from './database.ts';
import { digestOf, type TableDigest } from './digest.ts';

/** What a backup says of itself. */
export interface BackupNote {
  /** RFC 3339, in UTC: what was committed by then is in it. */
  taken_at: string;
  /** Version of the crm that made it. */
  crm: string;
  /** Rows and digest of each table. */
  tables: Record<string, TableDigest>;
}

/** Is told of the work: how many rows a part of it has to go through, and then how many more it has. */
export interface Work {
  begin(part: 'Copying' | 'Reading' | 'Checking', rows: number): Promise<void>;
  add(rows: number): void;
}

/**
 * Copies a file as it is now, with a note of what it holds; then reads the copy, and compares.
 * @param to a file that is not there yet
 * @throws DatabaseError if either cannot be used, or the copy is not what it is of
 */
export async function makeBackup(
  from: string,
  to: string,
  { crm, work }: { crm: string; work: Work },
): Promise<BackupNote> {
  const taken_at = new Date().toISOString();
  const copy = FileCopy.open(from, to);
  try {
    const rows = copy.countRows();
    await work.begin('Copying', rows);
    for (const count of copy.copyRows()) {
      work.add(count);
      await Bun.sleep(0);
    }
    await work.begin('Reading', rows);
    const original = { db: from, read: copy.db };
    const tables = await digestsOf(original, copy.tables, work, (name) => `${ORIGINAL}.${name}`);
    const text = JSON.stringify({ taken_at, crm, tables } satisfies BackupNote);
    await at({ db: to, read: copy.db }, () => setBackupNote(copy.db, text));
    copy.complete();
  } finally {
    copy.close();
  }
  const note = await checkBackup(to, work);
  if (note === null) throw new DatabaseError(`${to} has lost its note.`, ['Try again.']);
  return note;
}

/**
 * Reads a whole file, and compares it with its note; null for a sound file that is no backup, such as a copy that was made
 * while nothing served it.
 * @param shown what an error calls it, the path unless given
 * @throws DatabaseError if it is damaged, not what its note says, or written by a newer crm
 */
export async function checkBackup(
  path: string,
  work: Work,
  shown: string = path,
): Promise<BackupNote | null> {
  const file = inspectFile(path);
  try {
    const faults = file.findFaults();
    if (faults.length > 0) throw damaged(shown, faults);
    if (file.tables.length === 0) throw damaged(shown, ['it is empty']);
    await file.assertNotNewer();
    const text = await findBackupNote(file.read);
    if (text === undefined) return null;
    const note: BackupNote = JSON.parse(text);
    await work.begin(
      'Checking',
      Object.values(note.tables).reduce((sum, { rows }) => sum + rows, 0),
    );
    const found = await digestsOf({ db: path, read: file.read }, file.tables, work);
    const different = Object.keys({ ...note.tables, ...found }).filter(
      (name) => note.tables[name]?.digest !== found[name]?.digest,
    );
    if (different.length === 0) return note;
    throw damaged(shown, [`what it holds of ${different.join(', ')} is not what was copied`]);
  } finally {
    await file.close();
  }
}

async function digestsOf(
  from: CopySource,
  tables: readonly TableShape[],
  work: Work,
  nameOf = (name: string): string => name,
): Promise<Record<string, TableDigest>> {
  const digests: Record<string, TableDigest> = {};
  for (const table of tables) {
    const only = table.name === 'settings' ? sql`name <> ${BACKUP_NOTE}` : sql`true`;
    digests[table.name] = await digestOf(from, { ...table, name: nameOf(table.name), only }, work.add);
  }
  return digests;
}
