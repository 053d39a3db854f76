// The store: durable jobs in groups, and reads that cannot write.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import type { Db, Trx } from '../../db/engine/schema.ts';
import { withSavepoint } from '../../db/engine/transaction.ts';
import { openStore, type Store } from '../../db/store.ts';
import { databases } from '../support/folders.ts';
import { promptRound } from '../support/rounds.ts';
import { observeConnections } from '../support/statement-log.ts';

const newDatabase = databases();
/** A path or an address. */
let path = '';
let store: Store;
beforeEach(async () => {
  path = await newDatabase();
  store = await openStore(path);
});
afterEach(() => store.close());

/** As the store has it. */
const GROUP_MS_MAX = 60;

const put = (name: string) => (trx: Db) => trx.insertInto('settings').values({ name, value: 'x' }).execute();
const namesIn = async (db: Db): Promise<string[]> => {
  const rows = await db
    .selectFrom('settings')
    .select('name')
    .where('value', '=', 'x')
    .orderBy('name')
    .execute();
  return rows.map(({ name }) => name);
};

// A busy machine can need longer for a job or two.
const quickly = <T>(round: (number: number) => Promise<T>) => promptRound(GROUP_MS_MAX, round);

describe('jobs', () => {
  test('that arrive together are committed together', async () => {
    const seenTogether = async (round: number) => {
      const names = ['a', 'b', 'c', 'd'].map((name) => `${name}${round}`);
      const [first, ...others] = names.map((name) => store.write('accounts', put(name)));
      const seenWhenFirstIsDone = first?.then(() => namesIn(store.read));
      await Promise.all(others);
      const seen = await seenWhenFirstIsDone;
      return names.filter((name) => seen?.includes(name)).length;
    };
    expect(await quickly(seenTogether)).toBe(4);
  });

  test('run one after another, each seeing what went before', async () => {
    const order: string[] = [];
    const jobs = ['a', 'b', 'c'].map((name) =>
      store.write('accounts', async (trx) => {
        order.push(`${name} begins`);
        await put(name)(trx);
        await Bun.sleep(0);
        order.push(`${name} sees ${(await namesIn(trx)).join('')}`);
      }),
    );
    await Promise.all(jobs);
    expect(order).toEqual(['a begins', 'a sees a', 'b begins', 'b sees ab', 'c begins', 'c sees abc']);
  });

  test('give their results, in whatever number they come', async () => {
    const results = await Promise.all(
      Array.from({ length: 500 }, (_, index) =>
        store.write('accounts', async (trx) => {
          await put(`n${String(index).padStart(3, '0')}`)(trx);
          return index;
        }),
      ),
    );
    expect(results).toEqual(Array.from({ length: 500 }, (_, index) => index));
    expect(await namesIn(store.read)).toHaveLength(500);
  });

  test('that fail harm only themselves', async () => {
    const failing = async (trx: Trx) => {
      await put('lost')(trx);
      throw new Error('on purpose');
    };
    const conflicting = async (trx: Trx) => {
      await put('also lost')(trx);
      await put('a')(trx);
    };
    const results = await Promise.allSettled([
      store.write('accounts', put('a')),
      store.write('accounts', failing),
      store.write('accounts', put('b')),
      store.write('accounts', conflicting),
      store.write('accounts', () => Promise.reject(new Error('at once'))),
      store.write('accounts', put('c')),
    ]);
    expect(results.map((result) => result.status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
    ]);
    expect((results[1] as PromiseRejectedResult).reason.message).toBe('on purpose');
    expect(await namesIn(store.read)).toEqual(['a', 'b', 'c']);
  });

  test('that take long share a transaction with few others, and each is committed once, in order', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `n${String(index).padStart(2, '0')}`);
    const slow = (name: string) => async (trx: Trx) => {
      Bun.sleepSync(15);
      await put(name)(trx);
      if (name === 'n05') throw new Error('on purpose');
    };
    const results = await Promise.allSettled(names.map((name) => store.write('accounts', slow(name))));
    const lost = results.flatMap(({ status }, index) => (status === 'rejected' ? [names[index]] : []));
    expect(lost).toEqual(['n05']);
    expect(await namesIn(store.read)).toEqual(names.filter((name) => name !== 'n05'));
  });

  test('that leave a savepoint open harm nobody else', async () => {
    const results = await Promise.allSettled([
      store.write('accounts', put('a')),
      store.write('accounts', async (trx) => {
        await sql`savepoint forgotten`.execute(trx);
        await put('lost')(trx);
        throw new Error('on purpose');
      }),
      store.write('accounts', put('b')),
    ]);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await namesIn(store.read)).toEqual(['a', 'b']);
  });

  test('are not seen by readers before they are durable', async () => {
    const entered = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();
    const job = store.write('accounts', async (trx) => {
      await put('a')(trx);
      entered.resolve();
      await leave.promise;
    });
    await entered.promise;
    expect(await namesIn(store.read)).toEqual([]);
    leave.resolve();
    await job;
    expect(await namesIn(store.read)).toEqual(['a']);
    const elsewhere = await openStore(path);
    expect(await namesIn(elsewhere.read)).toEqual(['a']);
    await elsewhere.close();
  });

  test('are set off by savepoints only where one failed after it wrote, and are then run again', async () => {
    using observed = observeConnections();
    const { asked } = observed;
    const runs: string[] = [];
    const job = (name: string, fail = '') =>
      store.write('accounts', async (trx) => {
        runs.push(name);
        if (fail === 'before') throw new Error(name);
        await put(name)(trx);
        if (fail === 'after') throw new Error(name);
      });
    const commands = () => {
      const made = asked.splice(0).map((sql) => sql.toLowerCase().replace(' immediate', ''));
      return made.filter((sql) => /^(?:begin|commit|rollback|savepoint|release)/.test(sql));
    };
    const threeJobs = (failing: string) => async (round: number) => {
      const names = ['a', 'b', 'c'].map((name) => `${name} ${failing} ${round}`);
      const [a = '', b = '', c = ''] = names;
      const settled = await Promise.allSettled([job(a), job(b, failing), job(c)]);
      expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      const written = await namesIn(store.read);
      expect(names.filter((name) => written.includes(name))).toEqual([a, c]);
      return { runs: runs.splice(0).map(([letter]) => letter), commands: commands() };
    };
    expect(await quickly(threeJobs('before'))).toEqual({
      runs: ['a', 'b', 'c'],
      commands: ['begin', 'commit'],
    });
    const savepoint = ['savepoint job', 'release savepoint job'];
    expect(await quickly(threeJobs('after'))).toEqual({
      runs: ['a', 'b', 'a', 'b', 'c'],
      commands: [
        ...['begin', 'rollback', 'begin', ...savepoint],
        ...['savepoint job', 'rollback to savepoint job', 'release savepoint job', ...savepoint, 'commit'],
      ],
    });
  });

  test('parts of them can fail by themselves', async () => {
    await store.write('accounts', async (trx) => {
      await put('before')(trx);
      const part = withSavepoint(trx, async () => {
        await put('part')(trx);
        await withSavepoint(trx, () => put('inner')(trx));
        throw new Error('on purpose');
      });
      expect(part).rejects.toThrow('on purpose');
      await part.catch(() => undefined);
      expect(await withSavepoint(trx, () => put('kept')(trx).then(() => 5))).toBe(5);
      await put('after')(trx);
    });
    expect(await namesIn(store.read)).toEqual(['after', 'before', 'kept']);
  });

  test('queued at close are finished, later ones refused', async () => {
    const queued = ['a', 'b'].map((name) => store.write('accounts', put(name)));
    const closing = store.close();
    expect(store.write('accounts', put('late'))).rejects.toThrow('closed');
    await Promise.all([...queued, closing]);
    store = await openStore(path);
    expect(await namesIn(store.read)).toEqual(['a', 'b']);
  });
});

describe('the reading side', () => {
  test('cannot write', async () => {
    expect(put('a')(store.read)).rejects.toThrow(/readonly|read-only/);
    expect(await namesIn(store.read)).toEqual([]);
  });

  test('sees what another process has committed, with the next turn', async () => {
    expect(await namesIn(store.read)).toEqual([]);
    const other = await openStore(path);
    await other.write('accounts', put('theirs'));
    expect(await namesIn(store.read)).toEqual(['theirs']);
    await other.close();
  });
});
