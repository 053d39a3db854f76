// Prevents a second run with the same rows while one runs.
import { sha256 } from '../../files/digest.ts';
import { lockOf, lockWork } from '../../files/work-lock.ts';
import type { RowJob } from './row-job.ts';

/**
 * Locks the run that `subject` identifies; the returned function releases the lock.
 * @throws CliError that names the process holding the lock
 */
export function lockRun({ verb, gerund }: Pick<RowJob, 'verb' | 'gerund'>, subject: string): () => void {
  return lockWork({
    path: lockOf(`${verb}-${sha256(subject).slice(0, 32)}`),
    refusal: `is ${gerund} the same rows in the same organization`,
    nextSteps: ['wait until it ends, then run the same command again to see the result.'],
  });
}
