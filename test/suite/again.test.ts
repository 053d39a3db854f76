// What failed while other tests ran is run again: what passes then counts as it went, and what fails again has failed.
import { expect, test } from 'bun:test';
import { type Result, runFailedAgain } from './again.ts';

const tallyOf = (failed: number) => ({ passed: 3 - failed, failed, skipped: 0 });
const resultsOf = (failed: readonly number[]): Result<string>[] =>
  failed.map((count, at) => ({
    task: { engine: 'sqlite', files: [`test/${at}.test.ts`] },
    tally: tallyOf(count),
  }));

test('what failed is run again, and nothing else', async () => {
  const results = resultsOf([0, 1, 2]);
  const ran: string[] = [];
  const passed = await runFailedAgain(results, async ({ files }) => {
    ran.push(...files);
    return tallyOf(files.includes('test/2.test.ts') ? 1 : 0);
  });
  expect(ran).toEqual(['test/1.test.ts', 'test/2.test.ts']);
  expect(passed).toEqual([{ engine: 'sqlite', files: ['test/1.test.ts'] }]);
  expect(results.map(({ tally }) => tally.failed)).toEqual([0, 0, 2]);
});

test('nothing is run again where much failed', async () => {
  const results = resultsOf([1, 1, 1, 1, 1, 1]);
  expect(await runFailedAgain(results, () => Promise.reject(new Error('was run')))).toEqual([]);
  expect(results.map(({ tally }) => tally.failed)).toEqual([1, 1, 1, 1, 1, 1]);
});
