// Old changes are removed a few at a time: writes have their turn in between, and leave a log without gaps.
import { expect, test } from 'bun:test';
import { removeOldChanges } from '../soak/feed/retention.ts';

const CHANGES = 20_000;
// Of 21. One under way, one that was waiting already, and those of the time in which the write is prepared.
const JOBS_MAX = 6;

test('who writes while old changes are removed waits for a few of them only', async () => {
  const { removed, own, other, left, firstNew, jobsPerWrite } = await removeOldChanges(CHANGES);
  // The first pipeline too, and perhaps what was written before the end by the clock of that time.
  expect(removed).toBeGreaterThan(CHANGES);
  expect(Math.min(own.count, other.count)).toBeGreaterThan(1);
  expect(jobsPerWrite).toBeLessThanOrEqual(JOBS_MAX);
  expect(left).toEqual(Array.from({ length: own.count }, (_, index) => firstNew + index));
});
