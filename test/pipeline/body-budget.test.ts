// Bytes of bodies under way: what does not fit waits unread, is let in when there is room, and is refused in the end.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { BodyBudget } from '../../server/pipeline/body-budget.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { setQuota } from '../support/quota.ts';

describe('room for bodies', () => {
  const budget = (among?: number) => new BodyBudget({ orgBytes: 100, allBytes: 150 }, among);
  const of = (orgId: number, bodyBytesMax: number | null = null) => ({ orgId, bodyBytesMax });
  const settled = async (promise: Promise<void>): Promise<boolean> =>
    Promise.race([promise.then(() => true), Bun.sleep(5).then(() => false)]);

  test('is given up to the limit of an organization, and of all', async () => {
    const bodies = budget();
    expect(await settled(bodies.open(of(1)).grow(60))).toBe(true);
    const second = bodies.open(of(1)).grow(60);
    expect(await settled(second)).toBe(false);
    expect(await settled(bodies.open(of(2)).grow(90))).toBe(true);
    expect(await settled(bodies.open(of(3)).grow(1))).toBe(false);
  });

  test('is shared out among several that hand it out', async () => {
    const bodies = budget(4);
    const [one, two] = [bodies.open(of(1)), bodies.open(of(1))];
    await one.grow(10);
    expect(await settled(two.grow(16))).toBe(false);
    expect(await settled(one.grow(15))).toBe(true);
    expect(await settled(bodies.open(of(2)).grow(13))).toBe(false);
  });

  test('is given up to the quota of an organization that has one, more or less than others may have', async () => {
    const bodies = budget();
    await bodies.open(of(1, 30)).grow(20);
    expect(await settled(bodies.open(of(1, 30)).grow(11))).toBe(false);
    expect(await settled(bodies.open(of(1, 30)).grow(10))).toBe(true);
    await bodies.open(of(2, 120)).grow(60);
    expect(await settled(bodies.open(of(2, 120)).grow(60))).toBe(true);
  });

  test('goes to whoever waits when it is given back, the first that fits', async () => {
    const bodies = budget();
    const [one, two, three] = [bodies.open(of(1)), bodies.open(of(1)), bodies.open(of(1))];
    await one.grow(90);
    const [large, small] = [two.grow(95), three.grow(20)];
    expect(await settled(small)).toBe(false);
    one.release();
    expect(await settled(large)).toBe(true);
    expect(await settled(small)).toBe(false);
    two.release();
    expect(await settled(small)).toBe(true);
  });

  test('is always there for a body that is alone, and grows with one of unknown length', async () => {
    const bodies = budget();
    const alone = bodies.open(of(1));
    await alone.grow(500);
    await alone.grow(500);
    const other = bodies.open(of(2)).grow(1);
    expect(await settled(other)).toBe(false);
    alone.release();
    expect(await settled(other)).toBe(true);
  });
});

describe('a request whose body finds no room', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness({ bodyLimits: { orgBytes: 1_000, allBytes: 100_000 } });
  });
  afterAll(() => harness.close());

  // A body that does not end until it is told to, and tells once more of it is wanted than its beginning.
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
    const held = heldBody(800);
    const first = post(held.stream);
    await held.begun;
    const second = post(JSON.stringify({ first_name: 'y'.repeat(500) }));
    expect(await Promise.race([second.then(() => 'answered'), Bun.sleep(50).then(() => 'waits')])).toBe(
      'waits',
    );
    const other = await harness.issue({ orgId: harness.otherOrgId });
    expect((await post(JSON.stringify({ first_name: 'Zoe' }), other.key)).status).toBe(201);
    held.finish();
    expect([(await first).status, (await second).status]).toEqual([201, 201]);
  });

  test('is refused after ten seconds, counted nowhere', async () => {
    const held = heldBody(800);
    const first = post(held.stream);
    await held.begun;
    // Another organization has a quota of its own.
    await setQuota({ ...harness, orgId: harness.otherOrgId }, { bytesInFlight: 500 });
    const other = await harness.issue({ orgId: harness.otherOrgId });
    const heldOther = heldBody(300);
    const firstOther = post(heldOther.stream, other.key);
    await heldOther.begun;
    const startedMs = performance.now();
    const body = (characters: number) => JSON.stringify({ first_name: 'y'.repeat(characters) });
    const refusing = post(body(300), other.key);
    expect((await post(body(20), other.key)).status).toBe(201);
    const refused = await post(body(500));
    const waitedMs = performance.now() - startedMs;
    expect(refused.status).toBe(429);
    expect(waitedMs).toBeGreaterThan(9_500);
    const answer = (await refused.json()) as Json;
    expect(answer.error.code).toBe('RATE_LIMIT_EXCEEDED');
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThanOrEqual(1);
    expect(refused.headers.has('X-Quota-Bytes-In-Flight-Limit')).toBe(false);
    const refusedOther = await refusing;
    expect(refusedOther.status).toBe(429);
    expect(refusedOther.headers.get('X-Quota-Bytes-In-Flight-Limit')).toBe('500');
    heldOther.finish();
    expect((await firstOther).status).toBe(201);
    const remaining = Number(refused.headers.get('X-RateLimit-Remaining'));
    held.finish();
    expect((await first).headers.get('X-RateLimit-Remaining')).toBe(String(remaining - 1));
  }, 20_000);
});
