// Settings of the database as a whole.
import type { Db } from '../schema.ts';

/** The one setting that goes with what a database holds. */
export const SIGNING_SECRET = 'signing_secret';

/** The secret that signs cursors and transcript links, made at first use; 32 bytes, hex. */
export async function getSigningSecret(trx: Db): Promise<string> {
  const value = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex');
  await trx
    .insertInto('settings')
    .values({ name: SIGNING_SECRET, value })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  const row = await trx
    .selectFrom('settings')
    .select('value')
    .where('name', '=', SIGNING_SECRET)
    .executeTakeFirstOrThrow();
  return row.value;
}
