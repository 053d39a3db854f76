// A part of a write that can fail without the whole.
import type { Engine } from './engine.ts';
import type { Db } from './schema.ts';

/**
 * Runs `part` inside the current transaction; if it throws, what it wrote is undone and the error goes on. Where there
 * are no savepoints and it wrote before it failed, the transaction is spoiled: it will be run again, with them.
 */
export async function attempt<T>({ engine }: Db, part: () => Promise<T>): Promise<T> {
  const { progress } = engine;
  const { writes, hasSavepoints, states } = progress;
  const statesBefore = states.length;
  if (hasSavepoints) engine.post('savepoint part');
  try {
    const result = await part();
    if (hasSavepoints) engine.post('release savepoint part');
    return result;
  } catch (error) {
    states.length = statesBefore;
    if (hasSavepoints) undo(engine);
    else if (progress.writes !== writes) progress.isSpoiled = true;
    throw error;
  }
}

function undo(engine: Engine): void {
  try {
    engine.post('rollback to savepoint part');
    engine.post('release savepoint part');
  } catch {
    // A full disk ends the whole transaction by itself; then the first error is the one to tell.
  }
}
