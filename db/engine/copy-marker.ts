// The mark of a database that is being filled with a copy of another and is not complete yet.
import { DatabaseError } from '../database-error.ts';
import type { Db } from './schema.ts';
import { findSetting } from './setting.ts';

/** The setting with the origin of an incomplete copy. */
export const COPY_MARKER = 'copied_from';

/**
 * Rejects an incomplete copy.
 * @param shown how messages name the database
 * @throws DatabaseError if it is marked as incomplete
 */
export async function assertCopyComplete(db: Db, shown: string): Promise<void> {
  if ((await findSetting(db, COPY_MARKER)) === undefined) return;
  throw new DatabaseError(`The database ${shown} contains an incomplete copy of another database.`, [
    'Run the same "crm migrate" command again: it continues where it stopped.',
  ]);
}
