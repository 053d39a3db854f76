// A part of a write that can fail without the whole: standard SQL savepoints, the same on every engine.
import { sql } from 'kysely';
import type { Db } from './schema.ts';

/** Runs `part` inside the current transaction; if it throws, what it wrote is undone and the error goes on. */
export async function attempt<T>(trx: Db, part: () => Promise<T>): Promise<T> {
  await sql`savepoint part`.execute(trx);
  try {
    const result = await part();
    await sql`release savepoint part`.execute(trx);
    return result;
  } catch (error) {
    // A full disk ends the whole transaction by itself; then the first error is the one to tell.
    await undo(trx).catch(() => undefined);
    throw error;
  }
}

async function undo(trx: Db): Promise<void> {
  await sql`rollback to savepoint part`.execute(trx);
  await sql`release savepoint part`.execute(trx);
}
