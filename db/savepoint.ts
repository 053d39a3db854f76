// A part of a write that can fail without the whole: standard SQL savepoints, the same on every engine.
import { CompiledQuery } from 'kysely';
import type { Db } from './schema.ts';

const SAVE = CompiledQuery.raw('savepoint part');
const RELEASE = CompiledQuery.raw('release savepoint part');
const ROLL_BACK = CompiledQuery.raw('rollback to savepoint part');

/** Runs `part` inside the current transaction; if it throws, what it wrote is undone and the error goes on. */
export async function attempt<T>(trx: Db, part: () => Promise<T>): Promise<T> {
  await trx.executeQuery(SAVE);
  try {
    const result = await part();
    await trx.executeQuery(RELEASE);
    return result;
  } catch (error) {
    // A full disk ends the whole transaction by itself; then the first error is the one to tell.
    await undo(trx).catch(() => undefined);
    throw error;
  }
}

async function undo(trx: Db): Promise<void> {
  await trx.executeQuery(ROLL_BACK);
  await trx.executeQuery(RELEASE);
}
