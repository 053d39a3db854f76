// What failed is run again while nothing else runs: on a busy machine a test can fail that passes by itself.
import type { Run } from './tests-run.ts';
import type { Task } from './work.ts';

/** How the files of a task went. */
export interface Result<Engine> {
  task: Task<Engine>;
  run: Run;
}

// Where more tasks failed, the machine was not the reason.
const TASKS_MAX = 5;

/**
 * Runs the files that failed again, one task after another, and counts as passed what passes now. Returns these tasks, with
 * the files that were run again.
 */
export async function runFailedAgain<Engine>(
  results: Result<Engine>[],
  run: (task: Task<Engine>) => Promise<Run>,
): Promise<Task<Engine>[]> {
  const failed = results.filter(({ run: { tally } }) => tally.failed > 0);
  if (failed.length > TASKS_MAX) return [];
  const passed: Task<Engine>[] = [];
  for (const result of failed) {
    const { tally, failedFiles } = result.run;
    const task = { engine: result.task.engine, files: failedFiles ?? result.task.files };
    const again = await run(task);
    if (again.tally.failed > 0) continue;
    // Where only some files ran again, the others are counted already.
    const whole =
      failedFiles === null ? again.tally : { ...tally, passed: tally.passed + tally.failed, failed: 0 };
    result.run = { tally: whole, failedFiles: null };
    passed.push(task);
  }
  return passed;
}
