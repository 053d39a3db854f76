// Backups of a database file: each contains a note of its content, so that it can be checked anywhere.
import { sql } from 'kysely';
import type { Trx } from '../engine/schema.ts';
import { findSetting, removeSettings, setSetting } from '../engine/setting.ts';
import { damaged, FileCopy, inspectFile, ORIGINAL, type TableShape } from '../maintenance.ts';
import { DatabaseError } from '../store.ts';
import { atDatabase, type CopySource } from './database.ts';
import { digestOf, type TableDigest } from './digest.ts';

// The setting with the note, which describes a file and is not part of its content.
const BACKUP_NOTE = 'backup';

/** A backup's description of itself. */
export interface BackupNote {
  /** RFC 3339, in UTC: the backup contains what was committed by then. */
  taken_at: string;
  /** Version of the crm that made it. */
  crm: string;
  /** Number of rows and digest of each table. */
  tables: Record<string, TableDigest>;
}

/** Receives progress: the number of rows of a step, and then the number of rows processed. */
export interface Work {
  begin(part: 'Copying' | 'Reading' | 'Checking', rows: number): Promise<void>;
  add(rows: number): void;
}

/**
 * Copies the current state of a file, with a note of its content; then reads the copy and compares it.
 * @param to a file that does not exist yet
 * @throws DatabaseError if either file cannot be used, or the copy differs from the original
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
    await atDatabase({ db: to, read: copy.db }, () => setSetting(copy.db, BACKUP_NOTE, text));
    copy.complete();
  } finally {
    copy.close();
  }
  const note = await checkBackup(to, work);
  if (note === null)
    throw new DatabaseError(`${to} does not contain the note that a backup has.`, ['Try again.']);
  return note;
}

/**
 * Reads a whole file and compares it with its note; null for a sound file that is not a backup, for example a copy made
 * while no server used it.
 * @param shown the name for messages, by default the path
 * @throws DatabaseError if it is damaged, differs from its note, or was written by a newer crm
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
    const text = await findSetting(file.read, BACKUP_NOTE);
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
    throw damaged(shown, [`the content of ${different.join(', ')} differs from what was copied`]);
  } finally {
    await file.close();
  }
}

/** Turns a backup into a normal database. */
export function removeBackupNote(trx: Trx): Promise<void> {
  return removeSettings(trx, BACKUP_NOTE);
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
