// What failed while other tests ran is run again: what passes then counts as it went, and what fails again has failed.
import { expect, test } from 'bun:test';
import { type Result, runFailedAgain } from './again.ts';

const tallyOf = (failed: number) => ({ passed: 3 - failed, failed, skipped: 0 });
const resultsOf = (failed: readonly number[]): Result<string>[] =>
  failed.map((count, at) => ({
    task: { engine: 'sqlite', files: [`test/${at}.test.ts`] },
    run: { tally: tallyOf(count), failedFiles: null },
  }));

test('what failed is run again, and nothing else', async () => {
  const results = resultsOf([0, 1, 2]);
  const ran: string[] = [];
  const passed = await runFailedAgain(results, async ({ files }) => {
    ran.push(...files);
    return { tally: tallyOf(files.includes('test/2.test.ts') ? 1 : 0), failedFiles: null };
  });
  expect(ran).toEqual(['test/1.test.ts', 'test/2.test.ts']);
  expect(passed).toEqual([{ engine: 'sqlite', files: ['test/1.test.ts'] }]);
  expect(results.map(({ run }) => run.tally.failed)).toEqual([0, 0, 2]);
});

test('of a task, the files that failed are run again, and the others count as they went', async () => {
  const files = ['test/a.test.ts', 'test/b.test.ts', 'test/c.test.ts'];
  const results: Result<string>[] = [
    {
      task: { engine: 'sqlite', files },
      run: { tally: { passed: 10, failed: 2, skipped: 1 }, failedFiles: ['test/b.test.ts'] },
    },
  ];
  const passed = await runFailedAgain(results, ({ files: again }) => {
    expect(again).toEqual(['test/b.test.ts']);
    return Promise.resolve({ tally: { passed: 5, failed: 0, skipped: 0 }, failedFiles: null });
  });
  expect(passed).toEqual([{ engine: 'sqlite', files: ['test/b.test.ts'] }]);
  expect(results[0]?.run.tally).toEqual({ passed: 12, failed: 0, skipped: 1 });
});

test('nothing is run again where much failed', async () => {
  const results = resultsOf([1, 1, 1, 1, 1, 1]);
  expect(await runFailedAgain(results, () => Promise.reject(new Error('was run')))).toEqual([]);
  expect(results.map(({ run }) => run.tally.failed)).toEqual([1, 1, 1, 1, 1, 1]);
});
