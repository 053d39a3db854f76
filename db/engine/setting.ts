// Settings: single values that belong to the database as a whole, by name.
import type { Db, Trx } from './schema.ts';

/** The value of a setting; undefined if it has none. */
export async function findSetting(db: Db, name: string): Promise<string | undefined> {
  const [setting] = await db.selectFrom('settings').select('value').where('name', '=', name).execute();
  return setting?.value;
}

/** Gives a setting a value. */
export async function setSetting(trx: Trx, name: string, value: string): Promise<void> {
  await trx
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}

/** Gives a setting a value, unless it has one. */
export async function initializeSetting(trx: Trx, name: string, value: string): Promise<void> {
  await trx
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
}

/** Removes settings. */
export async function removeSettings(trx: Trx, ...names: readonly string[]): Promise<void> {
  await trx.deleteFrom('settings').where('name', 'in', names).execute();
}
