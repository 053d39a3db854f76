// The mark of a database that is being filled with a copy of another and is not complete yet.
import { DatabaseError } from '../database-error.ts';
import type { Db, Trx } from './schema.ts';

const NAME = 'copied_from';

/** The origin of an incomplete copy; undefined if the database is not one. */
export async function findCopyMarker(db: Db): Promise<string | undefined> {
  const [mark] = await db.selectFrom('settings').select('value').where('name', '=', NAME).execute();
  return mark?.value;
}

/** Marks a database as an incomplete copy. */
export async function setCopyMarker(trx: Trx, origin: string): Promise<void> {
  await trx.insertInto('settings').values({ name: NAME, value: origin }).execute();
}

/** Marks a database as complete. */
export async function removeCopyMarker(trx: Trx): Promise<void> {
  await trx.deleteFrom('settings').where('name', '=', NAME).execute();
}

/**
 * Rejects an incomplete copy.
 * @param shown how messages name the database
 * @throws DatabaseError if it is marked as incomplete
 */
export async function assertCopyComplete(db: Db, shown: string): Promise<void> {
  if ((await findCopyMarker(db)) === undefined) return;
  throw new DatabaseError(`The database ${shown} contains an incomplete copy of another database.`, [
    'Run the same "crm migrate" command again: it continues where it stopped.',
  ]);
}
