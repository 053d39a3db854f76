// When the database was last backed up, so that a missing backup is noticed.
import type { Db, Trx } from '../engine/schema.ts';
import { findSetting, setSetting } from '../engine/setting.ts';

const NAME = 'last_backup';

export interface LastBackup {
  /** RFC 3339, in UTC. */
  taken_at: string;
  file: string;
}

/** The last backup of a database; undefined if there is none. */
export async function findLastBackup(db: Db): Promise<LastBackup | undefined> {
  const text = await findSetting(db, NAME);
  return text === undefined ? undefined : JSON.parse(text);
}

/** Notes a backup. */
export function recordBackup(trx: Trx, { taken_at, file }: LastBackup): Promise<void> {
  return setSetting(trx, NAME, JSON.stringify({ taken_at, file }));
}
