// Responses being sent: room comes back as soon as a client has read, and slow clients cost little.
import { expect, test } from 'bun:test';
import { nextTurn } from '../../db/event-loop.ts';
import type { ResponseReservation } from '../../server/pipeline/response-reservation.ts';
import { UNTAKEN_SECONDS, UnsentResponses } from '../../server/pipeline/unsent-responses.ts';
import { until } from '../support/until.ts';

/** A response that is unsent for that many looks, and what happens to it. */
function watched(looksMax: number) {
  const seen = { looks: 0, isReleased: false, limits: [] as number[] };
  const unsent = new UnsentResponses({
    isUnsent: () => {
      seen.looks += 1;
      return seen.looks <= looksMax;
    },
    limitSilence: (_, seconds) => seen.limits.push(seconds),
  });
  const reservation: Pick<ResponseReservation, 'release'> = {
    release: () => {
      seen.isReleased = true;
    },
  };
  unsent.watch(new Request('http://crm.test'), reservation as ResponseReservation);
  return seen;
}

test.each([0, 1])(
  'a response that is sent after %i turns gives its room back in the next ones',
  async (turns) => {
    const seen = watched(turns);
    for (let turn = 0; turn <= turns + 1; turn++) await nextTurn();
    expect(seen.isReleased).toBe(true);
    expect(seen.limits).toEqual([]);
  },
);

test('a slow client is looked at ten times a second, and its silence is limited once', async () => {
  const seen = watched(25);
  await until(() => seen.limits.length > 0);
  // Eight soon, then one every 100 ms for a second.
  expect(seen.looks).toBeLessThan(20);
  await until(() => seen.isReleased);
  expect(seen.limits).toEqual([UNTAKEN_SECONDS]);
});
