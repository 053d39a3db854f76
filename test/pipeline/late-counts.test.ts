// Counts that take their time, as over the network: a read goes on beside, a write waits, and what the limit says holds.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import type { CompiledQuery } from 'kysely';
import type { Counters, RateLimitUsage } from '../../db/counters/counters.ts';
import type { PreparedQuery } from '../../db/engine/engine.ts';
import { ApiError } from '../../server/errors.ts';
import type { SharedLimits } from '../../server/pipeline/observer.ts';
import {
  appOn,
  type Harness,
  type Reply,
  type RequestInput,
  sender,
  startHarness,
} from '../support/harness.ts';
import { until } from '../support/until.ts';

const LIMIT = 5;

let harness: Harness;
/** Lets the counts that are waited for come, or fail. */
let release: (error?: Error) => void;
/** Once a request waits for its count. */
let isAsked: PromiseWithResolvers<void>;
/** Statements that read, since it was set back. */
let reads: number;
let send: (method: string, path: string, input?: RequestInput) => Promise<Reply>;
let shared: SharedLimits | null;
beforeEach(async () => {
  harness = await startHarness();
  const { store, clock } = harness;
  let gate = Promise.withResolvers<void>();
  isAsked = Promise.withResolvers();
  release = (error) => {
    if (error === undefined) gate.resolve();
    else gate.reject(error);
    gate = Promise.withResolvers();
  };
  const counters: Counters = {
    ...{ peek: (counted) => store.counters.peek(counted), giveBack: () => undefined, purge: () => undefined },
    count: async (counted): Promise<RateLimitUsage> => {
      isAsked.resolve();
      const [usage] = await Promise.all([store.counters.count(counted), gate.promise]);
      return usage;
    },
  };
  const read = replacing(store.read, {
    engine: replacing(store.read.engine, {
      bind: <R>(query: CompiledQuery<R>): PreparedQuery<R> => {
        const run = store.read.engine.bind(query);
        return (values, takes) => {
          reads += 1;
          return run(values, takes);
        };
      },
    }),
  });
  const app = await appOn({ ...store, read, counters }, clock, {
    keyLimit: LIMIT,
    log: () => undefined,
    observer: {
      watch: (limits) => {
        shared = limits;
      },
      responded: () => undefined,
    },
  });
  send = sender((request) => app.handle(request), harness);
});
afterEach(() => harness.close());

/** An object with some properties replaced. */
function replacing<T extends object>(target: T, changes: Partial<T>): T {
  return new Proxy(target, {
    get(_, name) {
      const value = Reflect.get(name in changes ? changes : target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const remaining = ({ headers }: Reply) => Number(headers.get('X-RateLimit-Remaining'));

/** Sends, and lets the count come after a while in which all else could have been done; gives the reads until then. */
async function sendLate(
  method: string,
  path: string,
  input?: RequestInput,
  failure?: Error,
): Promise<[Reply, number]> {
  reads = 0;
  isAsked = Promise.withResolvers();
  const answer = send(method, path, input);
  await isAsked.promise;
  await Bun.sleep(30);
  const before = reads;
  release(failure);
  return [await answer, before];
}

test('a read is under way, and answered when the count is there', async () => {
  const { body } = await harness.send('POST', '/api/v2/contacts', { body: { first_name: 'A' } });
  const [first] = await sendLate('GET', '/api/v2/contacts/absent');
  const [reply, before] = await sendLate('GET', `/api/v2/contacts/${body.data.id}`);
  expect([reply.status, before > 0]).toEqual([200, true]);
  expect([remaining(first), remaining(reply)]).toEqual([LIMIT - 2, LIMIT - 3]);
});

test('other errors are reported with the limits', async () => {
  for (const [path, status, left] of [
    ['/absent', 404, LIMIT - 1],
    ['?nope=1', 422, LIMIT - 2],
  ] as const) {
    const [reply] = await sendLate('GET', `/api/v2/contacts${path}`);
    expect([reply.status, remaining(reply)]).toEqual([status, left]);
  }
});

test('what is found beside is thrown away if the limit says no, and the next time nothing is looked for', async () => {
  for (let count = 0; count < LIMIT; count++) await sendLate('GET', '/api/v2/contacts');
  const [refused, first] = await sendLate('GET', '/api/v2/contacts');
  const [again, second] = await sendLate('GET', '/api/v2/contacts');
  expect([refused.status, again.status, second < first]).toEqual([429, 429, true]);
  harness.clock.now += 60_000;
  const [renewed, third] = await sendLate('GET', '/api/v2/contacts');
  const [next, fourth] = await sendLate('GET', '/api/v2/contacts');
  expect([renewed, next].map((reply) => [reply.status, remaining(reply)])).toEqual([
    [200, LIMIT - 1],
    [200, LIMIT - 2],
  ]);
  expect(third).toBeLessThan(fourth);
});

test('a write waits', async () => {
  const names = async () => (await harness.send('GET', '/api/v2/contacts')).body.data.length;
  isAsked = Promise.withResolvers();
  const answer = send('POST', '/api/v2/contacts', { body: { first_name: 'A' } });
  await isAsked.promise;
  await Bun.sleep(30);
  expect(await names()).toBe(0);
  release();
  expect((await answer).status).toBe(201);
  expect(await names()).toBe(1);
});

test('a count that fails is reported, whatever was found', async () => {
  const failure = new ApiError('DATABASE_UNAVAILABLE', 'on purpose', { headers: { 'Retry-After': '1' } });
  const [reply] = await sendLate('GET', '/api/v2/contacts', {}, failure);
  expect([reply.status, reply.headers.get('X-RateLimit-Remaining')]).toEqual([503, null]);
});

test('a large page that the limit rejects holds no room', async () => {
  for (let count = 0; count < 20; count++) {
    const body = { title: `Note ${count}`, content: 'x'.repeat(9_000) };
    await harness.send('POST', '/api/v2/notes', { body });
  }
  harness.clock.now += 60_000;
  const page = '/api/v2/notes?limit=20';
  for (let count = 0; count < LIMIT; count++) expect((await sendLate('GET', page))[0].status).toBe(200);
  await until(() => shared?.answers.stats().bytes === 0);
  const [refused, before] = await sendLate('GET', page);
  expect([refused.status, before > 0]).toEqual([429, true]);
  expect(shared?.answers.stats().bytes).toBe(0);
});
