// Prevents a second import of the same rows while one runs.
import { sha256 } from '../../files/digest.ts';
import { lockOf, lockWork } from '../../files/work-lock.ts';

/**
 * Locks the import that `subject` identifies; the returned function releases the lock.
 * @throws CliError that names the process holding the lock
 */
export function lockImport(subject: string): () => void {
  return lockWork({
    path: lockOf(`import-${sha256(subject).slice(0, 32)}`),
    refusal: 'is importing the same rows into the same organization',
    nextSteps: ['wait until it ends, then run the same command again to see the result.'],
  });
}
