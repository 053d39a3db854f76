// What failed is run again while nothing else runs: on a busy machine a test can fail that passes by itself.
import type { Tally } from './tally.ts';
import type { Task } from './work.ts';

/** How the files of a task went. */
export interface Result<Engine> {
  task: Task<Engine>;
  tally: Tally;
}

// Where more tasks failed, the machine was not the reason.
const TASKS_MAX = 5;

/** Runs the tasks that failed again, one by one, and replaces the results of those that pass now. Returns these tasks. */
export async function runFailedAgain<Engine>(
  results: Result<Engine>[],
  run: (task: Task<Engine>) => Promise<Tally>,
): Promise<Task<Engine>[]> {
  const failed = results.filter(({ tally }) => tally.failed > 0);
  if (failed.length > TASKS_MAX) return [];
  const passed: Task<Engine>[] = [];
  for (const result of failed) {
    const tally = await run(result.task);
    if (tally.failed > 0) continue;
    result.tally = tally;
    passed.push(result.task);
  }
  return passed;
}
