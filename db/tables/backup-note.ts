// What a backup says of itself, kept in the file that it is; a database that is no backup has none.
import type { Db } from '../engine/schema.ts';

/** The setting that it stands in, which is about a file rather than about what it holds. */
export const BACKUP_NOTE = 'backup';

/** The note of a backup; undefined where there is none. */
export async function findBackupNote(db: Db): Promise<string | undefined> {
  const [note] = await db.selectFrom('settings').select('value').where('name', '=', BACKUP_NOTE).execute();
  return note?.value;
}

/** Makes a database a backup. */
export async function setBackupNote(db: Db, value: string): Promise<void> {
  await removeBackupNote(db);
  await db.insertInto('settings').values({ name: BACKUP_NOTE, value }).execute();
}

/** Makes a backup a database like any other. */
export async function removeBackupNote(db: Db): Promise<void> {
  await db.deleteFrom('settings').where('name', '=', BACKUP_NOTE).execute();
}
