// What of a webhook's changes can be sent now, and how far its place can move.
import { describe, expect, test } from 'bun:test';
import { DeliveryQueue, type QueuedChange } from '../../server/webhooks/delivery-queue.ts';
import { FairSlots } from '../../server/webhooks/fair-slots.ts';
import { PassProgress } from '../../server/webhooks/pass-progress.ts';

const change = (sequence: number, record: string, pass = 0): QueuedChange => ({
  ...{ pass, sequence, resource: 0, record },
  ...{ attempt: 0, nextAttemptAt: null, isSending: false, isDone: false },
});

const queueOf = (...changes: QueuedChange[]): DeliveryQueue => {
  const queue = new DeliveryQueue();
  for (const one of changes) queue.add(one);
  return queue;
};

const takeAll = (queue: DeliveryQueue, now = 0): QueuedChange[] => {
  const taken: QueuedChange[] = [];
  for (let next = queue.take(now); next !== null; next = queue.take(now)) taken.push(next);
  return taken;
};

describe('a queue', () => {
  test('gives the first change of each record, and the next once that is finished', () => {
    const [a1, b2, a3] = [change(1, 'a'), change(2, 'b'), change(3, 'a')];
    const queue = queueOf(a1, b2, a3);
    expect(takeAll(queue)).toEqual([a1, b2]);
    queue.finish(b2);
    expect(takeAll(queue)).toEqual([]);
    queue.finish(a1);
    expect(takeAll(queue)).toEqual([a3]);
    expect(queue.size).toBe(1);
  });

  test('keeps what follows a failure behind it, until it is due again', () => {
    const [a1, a2, b3] = [change(1, 'a'), change(2, 'a'), change(3, 'b')];
    const queue = queueOf(a1, a2);
    takeAll(queue);
    a1.attempt = 1;
    queue.postpone(a1, 100);
    queue.add(b3);
    expect([queue.isBehindFailure(a1), queue.isBehindFailure(a2), queue.isBehindFailure(b3)]).toEqual([
      false,
      true,
      false,
    ]);
    expect(queue.nextDueAt).toBe(100);
    expect(takeAll(queue, 99)).toEqual([b3]);
    expect(takeAll(queue, 100)).toEqual([a1]);
    expect(queue.nextDueAt).toBeNull();
    queue.finish(a1);
    expect(takeAll(queue, 100)).toEqual([a2]);
  });

  test('sends a replay after all that the first pass has for the record', () => {
    const [replayed, other, a5] = [change(1, 'a', 1), change(2, 'b', 1), change(5, 'a')];
    const queue = queueOf(replayed, other, a5);
    expect(takeAll(queue)).toEqual([a5, other]);
    a5.attempt = 1;
    queue.postpone(a5, 100);
    expect(takeAll(queue, 50)).toEqual([]);
    takeAll(queue, 100);
    queue.finish(a5);
    expect(takeAll(queue, 100)).toEqual([replayed]);
  });

  test('has one change of a record under way, even if another comes first', () => {
    const [replayed, a5] = [change(1, 'a', 1), change(5, 'a')];
    const queue = queueOf(replayed);
    expect(takeAll(queue)).toEqual([replayed]);
    queue.add(a5);
    expect(takeAll(queue)).toEqual([]);
    replayed.attempt = 1;
    queue.postpone(replayed, 0);
    expect(takeAll(queue, 10)).toEqual([a5]);
  });

  test('distinguishes records of different resources', () => {
    const queue = queueOf(change(1, 'a'), { ...change(2, 'a'), resource: 3 });
    expect(takeAll(queue).length).toBe(2);
  });
});

describe('a place', () => {
  const passOf = (queue: DeliveryQueue, changes: QueuedChange[], cursor: number): PassProgress => {
    const pass = new PassProgress({ pass: 0, place: 0, last: null });
    for (const one of changes) {
      pass.open(one);
      queue.add(one);
    }
    pass.cursor = cursor;
    return pass;
  };

  test('moves over what is done, and stops before what is not sent yet', () => {
    const [a1, b2, c3] = [change(1, 'a'), change(2, 'b'), change(3, 'c')];
    const queue = new DeliveryQueue();
    const pass = passOf(queue, [a1, b2, c3], 9);
    expect(pass.plan(queue)).toEqual({ place: 0, stored: [] });
    takeAll(queue);
    queue.finish(c3);
    expect(pass.plan(queue)).toEqual({ place: 0, stored: [] });
    queue.finish(a1);
    expect(pass.plan(queue)).toEqual({ place: 1, stored: [] });
    queue.finish(b2);
    expect(pass.plan(queue)).toEqual({ place: 9, stored: [] });
    pass.moveTo(9);
    expect(pass.place).toBe(9);
  });

  test('moves over what waits after a failure, which has to be stored', () => {
    const [a1, a2, b3] = [change(1, 'a'), change(2, 'a'), change(3, 'b')];
    const queue = new DeliveryQueue();
    const pass = passOf(queue, [a1, a2, b3], 3);
    takeAll(queue);
    a1.attempt = 1;
    queue.postpone(a1, 100);
    expect(pass.plan(queue)).toEqual({ place: 2, stored: [a1, a2] });
    pass.moveTo(2);
    queue.finish(b3);
    expect(pass.plan(queue)).toEqual({ place: 3, stored: [] });
  });

  test('moves over one that is being sent once there is much behind it', () => {
    const queue = new DeliveryQueue();
    const changes = Array.from({ length: 300 }, (_, n) => change(n + 1, `r${n}`));
    const pass = passOf(queue, changes, 300);
    for (const one of takeAll(queue).slice(1)) queue.finish(one);
    const [slow] = changes;
    expect(pass.plan(queue)).toEqual({ place: 300, stored: [slow as QueuedChange] });
  });
});

describe('places for requests', () => {
  test('go to the organization that has the fewest', async () => {
    const slots = new FairSlots({ all: 4, organization: 3 });
    const order: string[] = [];
    const backs = new Map<string, () => void>();
    const take = (org: number, name: string) =>
      slots.take(org).then((back) => {
        order.push(name);
        backs.set(name, back);
      });
    const taken = [take(1, 'a1'), take(1, 'a2'), take(1, 'a3'), take(1, 'a4'), take(1, 'a5')];
    await Bun.sleep(1);
    // One organization alone does not get all places.
    expect(order).toEqual(['a1', 'a2', 'a3']);
    taken.push(take(2, 'b1'), take(2, 'b2'), take(3, 'c1'));
    await Bun.sleep(1);
    expect(order).toEqual(['a1', 'a2', 'a3', 'b1']);
    for (const name of ['a1', 'a2', 'a3']) {
      backs.get(name)?.();
      await Bun.sleep(1);
    }
    expect(order).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'a5']);
    for (const name of ['b1', 'c1', 'a4', 'a5']) backs.get(name)?.();
    await Promise.all(taken);
    expect(order.at(-1)).toBe('b2');
  });
});
