// Keeps a second import of the same rows out while one runs.
import { sha256 } from '../../files/digest.ts';
import { lockOf, lockWork } from '../../files/work-lock.ts';

/**
 * Locks the import that `subject` stands for; the function it returns frees it.
 * @throws CliError that names the process which has it
 */
export function lockImport(subject: string): () => void {
  return lockWork({
    path: lockOf(`import-${sha256(subject).slice(0, 32)}`),
    refusal: 'is importing the same rows into the same organization',
    nextSteps: ['wait for it to end, then run the same command again: it says what became of them.'],
  });
}
