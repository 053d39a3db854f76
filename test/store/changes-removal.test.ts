// Old changes are removed a few at a time: writes have their turn in between, and leave a log without gaps.
import { expect, test } from 'bun:test';
import { removeOldChanges } from '../soak/feed/retention.ts';
import { roundThat } from '../support/rounds.ts';

const CHANGES = 20_000;
// The removal takes 21 jobs. A write waits for the one under way, one that was waiting already, and those of the time
// in which it is prepared: for 2 to 5, and once for 9, as a busy machine gives a process of PostgreSQL no turn.
const JOBS_MAX = 15;
const WRITES_MIN = 5;

const ROUNDS_MAX = 4;

test('who writes while old changes are removed waits for a few of them only', async () => {
  const remove = async () => {
    const { removed, own, other, left, firstNew, jobsPerWrite } = await removeOldChanges(CHANGES);
    // The first pipeline too, and perhaps what was written before the end by the clock of that time.
    expect(removed).toBeGreaterThan(CHANGES);
    expect(left).toEqual(Array.from({ length: own.count }, (_, index) => firstNew + index));
    return { writes: Math.min(own.count, other.count), jobsPerWrite };
  };
  // A process of PostgreSQL that gets no turn for long enough holds up the write alone, though hardly each time.
  const { writes, jobsPerWrite } = await roundThat(
    (fair) => fair.writes >= WRITES_MIN && fair.jobsPerWrite <= JOBS_MAX,
    remove,
    ROUNDS_MAX,
  );
  expect(writes).toBeGreaterThanOrEqual(WRITES_MIN);
  expect(jobsPerWrite).toBeLessThanOrEqual(JOBS_MAX);
}, 300_000);
