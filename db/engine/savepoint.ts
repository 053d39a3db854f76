// A part of a write that can fail without failing the whole.
import type { TransactionEngine } from './engine.ts';
import type { Trx } from './schema.ts';

/**
 * Runs `part` in the current transaction; if it throws, its writes are undone and the error is rethrown. Without savepoints,
 * a part that fails after writing spoils the transaction, which then runs again with them.
 */
export async function withSavepoint<T>({ engine }: Trx, part: () => Promise<T>): Promise<T> {
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

function undo(engine: TransactionEngine): void {
  try {
    engine.post('rollback to savepoint part');
    engine.post('release savepoint part');
  } catch {
    // A full disk ends the whole transaction; the first error is the one to report.
  }
}
