// Bytes under way: what does not fit waits unread, is let in when there is room, and is refused in the end.
import { afterEach, describe, expect, test } from 'bun:test';
import { allocateSums } from '../../db/counters/memory-sums.ts';
import type { Eventually } from '../../db/engine/engine.ts';
import { nextTurn } from '../../db/event-loop.ts';
import { InFlightBudget, type InFlightClaim } from '../../server/quotas/in-flight-budget.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { setQuota } from '../support/quota.ts';

const KIBIBYTE = 1024;
// A tenth of the usual.
const WAIT_MS = 1_000;

describe('room for bytes', () => {
  const budget = (memory?: ArrayBufferLike) =>
    new InFlightBudget({
      limits: { orgBytes: 4_096 * KIBIBYTE, allBytes: 6_144 * KIBIBYTE },
      ...{ memory, waitMs: 60_000, limit: 'bodies', subject: 'request bodies' },
    });
  const of = (orgNumber: number, { key = '1', max = null as number | null } = {}) => ({
    orgNumber,
    keyId: `${orgNumber}.${key}`,
    bodyBytesMax: max === null ? null : max * KIBIBYTE,
  });
  /** Takes KiB, and says whether there is room at once. */
  const take = (claim: InFlightClaim, kibibytes: number): boolean => {
    const waiting = claim.grow(kibibytes * KIBIBYTE);
    // It is refused in the end, when the test is long over.
    waiting?.catch(() => undefined);
    return waiting === undefined;
  };
  const settled = async (grown: Eventually<void>): Promise<boolean> =>
    grown === undefined || Promise.race([grown.then(() => true), nextTurn().then(() => false)]);

  test('is given up to the limit of an organization, and of all', () => {
    const bytes = budget();
    expect(take(bytes.open(of(1)), 2_000)).toBe(true);
    expect(take(bytes.open(of(1, { key: '2' })), 2_000)).toBe(true);
    expect(take(bytes.open(of(1, { key: '3' })), 200)).toBe(false);
    expect(take(bytes.open(of(2)), 2_000)).toBe(true);
    expect(take(bytes.open(of(3)), 200)).toBe(false);
  });

  test('is given to one key up to half of that; to a larger claim, when its key holds nothing else', () => {
    const bytes = budget();
    const first = bytes.open(of(1));
    expect(take(first, 2_048)).toBe(true);
    expect(take(bytes.open(of(1)), 100)).toBe(false);
    expect(take(bytes.open(of(1, { key: '2' })), 2_048)).toBe(true);
    first.release();
    expect(take(bytes.open(of(1)), 2_049)).toBe(false);
    expect(take(bytes.open(of(2)), 3_000)).toBe(true);
    expect(take(bytes.open(of(2)), 100)).toBe(false);
    expect(take(bytes.open(of(2, { key: '2' })), 900)).toBe(true);
  });

  test('is kept for what is small, half of it for a key, whatever is there of what is large', () => {
    const bytes = budget();
    expect(take(bytes.open(of(1)), 6_144)).toBe(true);
    // An eighth of 4 MiB.
    const small = Array.from({ length: 4 }, () => bytes.open(of(1)));
    expect(small.map((claim) => take(claim, 64))).toEqual([true, true, true, true]);
    expect(take(bytes.open(of(1)), 1)).toBe(false);
    expect(take(bytes.open(of(1, { key: '2' })), 64)).toBe(true);
    expect(take(bytes.open(of(1, { key: '3' })), 65)).toBe(false);
    small[0]?.release();
    expect(take(bytes.open(of(1)), 63)).toBe(true);
    expect(bytes.stats()).toEqual({
      bytes: (6_144 + 5 * 64) * KIBIBYTE,
      bytesMax: (6_144 + 768) * KIBIBYTE,
      waiting: 1,
    });
  });

  test('is small until it has grown', () => {
    const bytes = budget();
    expect(take(bytes.open(of(2)), 5_000)).toBe(true);
    const [growing, other] = [bytes.open(of(1)), bytes.open(of(1, { key: '2' }))];
    expect(take(growing, 40)).toBe(true);
    expect(take(growing, 24)).toBe(true);
    expect(take(growing, 1)).toBe(true);
    expect(take(other, 1_080)).toBe(false);
    expect(bytes.stats().bytes).toBe(5_065 * KIBIBYTE);
    growing.shrink(10 * KIBIBYTE);
    expect(bytes.stats()).toMatchObject({ bytes: 6_090 * KIBIBYTE, waiting: 0 });
    growing.release();
    expect(bytes.stats().bytes).toBe(6_080 * KIBIBYTE);
    growing.release();
    other.release();
    expect(bytes.stats().bytes).toBe(5_000 * KIBIBYTE);
  });

  test('is one for all threads that count in the same memory', async () => {
    const memory = allocateSums(true);
    const [one, two] = [budget(memory), budget(memory)];
    const held = one.open(of(1));
    expect(take(held, 2_000)).toBe(true);
    expect(take(two.open(of(1)), 100)).toBe(false);
    expect(take(two.open(of(1, { key: '2' })), 2_000)).toBe(true);
    expect(take(one.open(of(1, { key: '3' })), 100)).toBe(false);
    expect(take(two.open(of(2)), 2_048)).toBe(true);
    expect(take(one.open(of(3)), 100)).toBe(false);
    expect(take(one.open(of(3)), 64)).toBe(true);
    expect([one.stats().bytes, two.stats().bytes]).toEqual([6_112 * KIBIBYTE, 6_112 * KIBIBYTE]);
    expect([one.stats().waiting, two.stats().waiting]).toEqual([2, 1]);
    held.release();
    while (one.stats().waiting + two.stats().waiting > 0) await Bun.sleep(1);
    expect(one.stats().bytes).toBe(4_412 * KIBIBYTE);
  });

  test('goes to who waits in order, whichever thread that is', async () => {
    const memory = allocateSums(true);
    const threads = [budget(memory), budget(memory), budget(memory)] as const;
    const held = threads[0].open(of(1));
    held.grow(2_048 * KIBIBYTE);
    const admitted: number[] = [];
    const claims = [1, 0, 2, 2, 1, 0].map((thread, index) => {
      const claim = (threads[thread] ?? threads[0]).open(of(1));
      const room = Promise.resolve(claim.grow(2_000 * KIBIBYTE)).then(() => admitted.push(index));
      return { claim, room };
    });
    held.release();
    for (const { claim, room } of claims) {
      await room;
      expect(threads[0].stats().bytes).toBe(2_000 * KIBIBYTE);
      claim.release();
    }
    expect(admitted).toEqual([0, 1, 2, 3, 4, 5]);
    expect(threads[2].stats()).toMatchObject({ bytes: 0, waiting: 0 });
  });

  test('is given up to the quota of an organization that has one, more or less than others may have', () => {
    const bytes = budget();
    expect(take(bytes.open(of(1, { max: 1_024 })), 500)).toBe(true);
    expect(take(bytes.open(of(1, { max: 1_024 })), 100)).toBe(false);
    expect(take(bytes.open(of(1, { max: 1_024, key: '2' })), 500)).toBe(true);
    expect(take(bytes.open(of(2, { max: 5_000 })), 2_500)).toBe(true);
    expect(take(bytes.open(of(2, { max: 5_000, key: '2' })), 2_500)).toBe(true);
  });

  test('goes to who waits when it is given back, in order; the small ones and other keys pass', async () => {
    const bytes = budget();
    const grow = (kibibytes: number, key = '1') => {
      const claim = bytes.open(of(1, { key }));
      return { claim, room: claim.grow(kibibytes * KIBIBYTE) };
    };
    const held = grow(2_048);
    const [large, next] = [grow(2_000), grow(100)];
    expect([await settled(large.room), await settled(next.room)]).toEqual([false, false]);
    expect([await settled(grow(64).room), await settled(grow(100, '2').room)]).toEqual([true, true]);
    held.claim.release();
    expect([await settled(large.room), await settled(next.room)]).toEqual([true, false]);
    large.claim.release();
    expect(await settled(next.room)).toBe(true);
  });

  test('is always there for what is alone, however it grows', async () => {
    const bytes = budget();
    const alone = bytes.open(of(1));
    expect([take(alone, 5_000), take(alone, 5_000)]).toEqual([true, true]);
    const other = bytes.open(of(2)).grow(100 * KIBIBYTE);
    expect(await settled(other)).toBe(false);
    alone.release();
    expect(await settled(other)).toBe(true);
  });

  test('is refused in the end, and who waits no more takes none', async () => {
    const bytes = new InFlightBudget({
      limits: { orgBytes: 100, allBytes: 100 },
      ...{ waitMs: 1, limit: 'bodies', subject: 'request bodies' },
    });
    const held = bytes.open(of(1));
    held.grow(100);
    const refused = await Promise.resolve(bytes.open(of(1)).grow(100)).catch((error) => error);
    expect(refused).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', limit: 'bodies' });
    expect(refused.message).toContain('request bodies');
    held.release();
    expect(bytes.stats()).toMatchObject({ bytes: 0, waiting: 0 });
  });
});

describe('a request whose body finds no room', () => {
  let harness: Harness;
  const start = async (bodyWaitMs: number) => {
    const inFlightLimits = { orgBytes: 400 * KIBIBYTE, allBytes: 4_000 * KIBIBYTE };
    harness = await startHarness({ inFlightLimits, bodyWaitMs });
  };
  afterEach(() => harness.close());

  // A body that does not end until asked to, and reports when more than its beginning is wanted.
  function heldBody(bytes: number) {
    const [finished, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const text = JSON.stringify({ first_name: 'x'.repeat(bytes) });
    const parts = [text.slice(0, -2), text.slice(-2)].map((part) => new TextEncoder().encode(part));
    const stream = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          if (parts.length === 1) {
            begun.resolve();
            await finished.promise;
          }
          const part = parts.shift();
          if (part === undefined) controller.close();
          else controller.enqueue(part);
        },
      },
      { highWaterMark: 0 },
    );
    return { stream, finish: finished.resolve, begun: begun.promise };
  }

  const post = (body: ReadableStream<Uint8Array> | string, key = harness.v2): Promise<Response> =>
    harness.handle(
      new Request('http://localhost/api/v2/contacts', {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body,
        ...(typeof body !== 'string' && { duplex: 'half' }),
      }),
    );

  test('waits, and is answered once there is; another organization is not kept waiting', async () => {
    await start(300_000);
    const held = heldBody(200 * KIBIBYTE);
    const first = post(held.stream);
    await held.begun;
    const second = post(JSON.stringify({ remarks: 'y'.repeat(100 * KIBIBYTE) }));
    expect(await Promise.race([second.then(() => 'answered'), Bun.sleep(50).then(() => 'waits')])).toBe(
      'waits',
    );
    const other = await harness.issue({ orgNumber: harness.otherOrgNumber });
    expect((await post(JSON.stringify({ first_name: 'Zoe' }), other.key)).status).toBe(201);
    held.finish();
    expect([(await first).status, (await second).status]).toEqual([422, 422]);
  });

  test('is refused in the end, counted nowhere; what is small, and another key, is let in', async () => {
    await start(WAIT_MS);
    const held = heldBody(300 * KIBIBYTE);
    const first = post(held.stream);
    await held.begun;
    // Another organization has a quota of its own.
    await setQuota({ ...harness, orgNumber: harness.otherOrgNumber }, { bytesInFlight: 200 * KIBIBYTE });
    const other = await harness.issue({ orgNumber: harness.otherOrgNumber });
    const heldOther = heldBody(150 * KIBIBYTE);
    const firstOther = post(heldOther.stream, other.key);
    await heldOther.begun;
    const startedMs = performance.now();
    const body = (kibibytes: number) => JSON.stringify({ first_name: 'y'.repeat(kibibytes * KIBIBYTE) });
    const refusing = post(body(100), other.key);
    const refusingLarge = post(body(80));
    expect((await post(JSON.stringify({ first_name: 'Ada' }))).status).toBe(201);
    expect((await post(body(80), (await harness.issue()).key)).status).toBe(422);
    const refused = await refusingLarge;
    const waitedMs = performance.now() - startedMs;
    expect(refused.status).toBe(429);
    expect(waitedMs).toBeGreaterThan(WAIT_MS - 50);
    const answer = (await refused.json()) as Json;
    expect(answer.error.code).toBe('RATE_LIMIT_EXCEEDED');
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThanOrEqual(1);
    expect(refused.headers.has('X-Quota-Bytes-In-Flight-Limit')).toBe(false);
    const refusedOther = await refusing;
    expect(refusedOther.status).toBe(429);
    expect(refusedOther.headers.get('X-Quota-Bytes-In-Flight-Limit')).toBe(String(200 * KIBIBYTE));
    heldOther.finish();
    expect((await firstOther).status).toBe(422);
    const remaining = Number(refused.headers.get('X-RateLimit-Remaining'));
    held.finish();
    expect((await first).headers.get('X-RateLimit-Remaining')).toBe(String(remaining - 1));
  }, 300_000);
});
