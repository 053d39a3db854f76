// A backup's description of itself, stored in the backup itself.
import type { Db } from '../engine/schema.ts';

/** The setting with the note, which describes a file and is not part of its content. */
export const BACKUP_NOTE = 'backup';

/** The note of a backup; undefined for other databases. */
export async function findBackupNote(db: Db): Promise<string | undefined> {
  const [note] = await db.selectFrom('settings').select('value').where('name', '=', BACKUP_NOTE).execute();
  return note?.value;
}

/** Turns a database into a backup. */
export async function setBackupNote(db: Db, value: string): Promise<void> {
  await removeBackupNote(db);
  await db.insertInto('settings').values({ name: BACKUP_NOTE, value }).execute();
}

/** Turns a backup into a normal database. */
export async function removeBackupNote(db: Db): Promise<void> {
  await db.deleteFrom('settings').where('name', '=', BACKUP_NOTE).execute();
}
