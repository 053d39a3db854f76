// What says of a database that it is being filled with a copy of another, and not whole yet.
import { DatabaseError } from '../database-error.ts';
import type { Db } from './schema.ts';

const NAME = 'copied_from';

/** What the copy that is not whole is of; undefined where there is none. */
export async function findCopyMark(db: Db): Promise<string | undefined> {
  const [mark] = await db.selectFrom('settings').select('value').where('name', '=', NAME).execute();
  return mark?.value;
}

/** Marks a database as one that is being filled. */
export async function setCopyMark(trx: Db, origin: string): Promise<void> {
  await trx.insertInto('settings').values({ name: NAME, value: origin }).execute();
}

/** Marks a database as whole. */
export async function removeCopyMark(trx: Db): Promise<void> {
  await trx.deleteFrom('settings').where('name', '=', NAME).execute();
}

/**
 * Refuses a database that is not whole.
 * @param shown how the database is told of
 * @throws DatabaseError if it is marked so
 */
export async function assertWhole(db: Db, shown: string): Promise<void> {
  if ((await findCopyMark(db)) === undefined) return;
  throw new DatabaseError(`The database ${shown} holds a copy of another that is not whole.`, [
    'Run the "crm migrate" that began it again: it goes on where it stopped.',
  ]);
}
