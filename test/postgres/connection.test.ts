// Connections to PostgreSQL: what they give back, and what becomes of a transaction when they or a statement fail.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import type { Trx } from '../../db/engine/schema.ts';
import { statement } from '../../db/engine/statement.ts';
import { PostgresConnection } from '../../db/postgres/connection.ts';
import { isUnreachable, sqlState } from '../../db/postgres/errors.ts';
import { PostgresPool } from '../../db/postgres/pool.ts';
import { watchSilence } from '../../db/postgres/silence.ts';
import { openStore, type Store } from '../../db/store.ts';
import { PostgresServer, postgresPrograms } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { TurnedClock } from '../support/wait-clock.ts';

const LONG = 300_000;

describe.skipIf(postgresPrograms === null)('on a server of its own', () => {
  let server: PostgresServer;
  let store: Store;
  const opened: PostgresConnection[] = [];
  const connect = () => {
    const options = { url: server.address(), connectionTimeout: 5 };
    const connection = new PostgresConnection(options, async (error) => error as Error);
    opened.push(connection);
    return connection;
  };
  const told = (answer: Promise<unknown>) =>
    answer.then(
      () => 'done',
      (error: unknown) => error,
    );

  beforeAll(async () => {
    server = await PostgresServer.start();
    await server.sql('create table numbers (n int primary key, big bigint, text text)');
    store = await openStore(server.address());
  }, LONG);
  afterEach(async () => {
    for (const connection of opened.splice(0)) await connection.close();
    await server.sql('truncate numbers');
  });
  afterAll(async () => {
    await store.close();
    await server.close();
  });
  const count = async () => Number((await server.sql('select count(*)::int as n from numbers'))[0]?.n);

  test('64-bit integers are numbers, and text that looks like one is text', async () => {
    const connection = connect();
    const rows = await connection.run(
      `select 9007199254740991 as big, null::int8 as none, '12' as text, 1.5::float8 as real`,
    );
    expect([...rows]).toEqual([{ big: 9_007_199_254_740_991, none: null, text: '12', real: 1.5 }]);
    const ask = statement<{ n: number }>((db, param) =>
      db.selectNoFrom([sql<number>`cast(${param('n')} as int8)`.as('n')]),
    );
    for (const n of [1, 2]) expect([...(await ask(connection.db, { n }))]).toEqual([{ n }]);
  });

  test(
    'what was begun ends with the connection: no statement of it runs by itself on the next one',
    async () => {
      const connection = connect();
      await connection.begin();
      await connection.run('insert into numbers (n) values (1)');
      await server.stop('immediate');
      await server.start();
      connection.post('insert into numbers (n) values (2)');
      const error = await told(connection.run('insert into numbers (n) values (3)'));
      expect(isUnreachable(error)).toBe(true);
      expect(isUnreachable(await told(connection.commit()))).toBe(true);
      await connection.rollback();
      expect(await count()).toBe(0);
      await connection.begin();
      await connection.run('insert into numbers (n) values (4)');
      await connection.commit();
      expect(await count()).toBe(1);
    },
    LONG,
  );

  test('a transaction in which a statement failed cannot be committed', async () => {
    const connection = connect();
    await connection.begin();
    await connection.run('insert into numbers (n) values (1)');
    expect(sqlState(await told(connection.run('insert into numbers (n) values (1)')))).toBe('23505');
    expect(connection.progress.isSpoiled).toBe(true);
    expect(sqlState(await told(connection.commit()))).toBe('23505');
    await connection.rollback();
    expect(await count()).toBe(0);
  });

  test(
    'a server that is silent for too long is disconnected, and asked again',
    async () => {
      const connection = connect();
      await connection.run('select 1');
      server.freeze();
      const answers = [told(connection.run('select 1')), told(connection.run('select 2'))];
      await Bun.sleep(200);
      connection.endIfSilent(60_000);
      expect(await Promise.race([...answers, Bun.sleep(100)])).toBeUndefined();
      connection.endIfSilent(100);
      for (const error of await Promise.all(answers)) expect(isUnreachable(error)).toBe(true);
      expect(connection.load).toBe(0);
      server.thaw();
      expect([...(await connection.run('select 3 as n'))]).toEqual([{ n: 3 }]);
    },
    LONG,
  );

  test(
    'a stall of this process is not taken for silence of the server',
    async () => {
      const connection = connect();
      await connection.run('select 1');
      server.freeze();
      const answer = told(connection.run('select 2'));
      using clock = new TurnedClock();
      const watching = watchSilence([connection]);
      clock.skip(20_000);
      await until(() => connection.silence.ms < 5_000);
      server.thaw();
      expect(await answer).toBe('done');
      clearInterval(watching);
    },
    LONG,
  );

  test('a pool gives a statement to whichever connection has least to do', async () => {
    const [first, second] = [connect(), connect()];
    const pool = new PostgresPool([first, second]);
    const holder = connect();
    await holder.run('select pg_advisory_lock(7)');
    const slow = pool.run('select pg_advisory_lock(7)');
    for (const n of [1, 2]) expect([...(await pool.run('select $1::int as n', [n]))]).toEqual([{ n }]);
    expect(first.load + second.load).toBe(1);
    await holder.run('select pg_advisory_unlock(7)');
    await slow;
    expect([first.load, second.load]).toEqual([0, 0]);
  });

  test('a changed table is read by the statements that were prepared before', async () => {
    const pool = new PostgresPool([connect()]);
    const all = statement<object>((db) => db.selectFrom('numbers' as 'settings').selectAll());
    await server.sql('insert into numbers (n) values (1)');
    expect(await all(pool.db, {})).toHaveLength(1);
    await server.sql('alter table numbers add column more text');
    expect((await all(pool.db, {}))[0]).toHaveProperty('more', null);
    const inJob = () => store.write(1, async (trx) => all(trx, {}));
    expect((await inJob())[0]).toHaveProperty('more');
    await server.sql('alter table numbers drop column more');
    expect((await inJob())[0]).not.toHaveProperty('more');
  });

  describe('a job', () => {
    const put = (trx: Trx, n: number) => sql`insert into numbers (n) values (${n})`.execute(trx);

    test('that goes on after a failed statement is not committed, and those beside it are', async () => {
      const careless = store.write(1, async (trx) => {
        await put(trx, 1);
        await put(trx, 1).catch(() => undefined);
        return 'done';
      });
      const other = store.write(1, (trx) => put(trx, 2));
      expect(sqlState(await told(careless))).toBe('23505');
      await other;
      expect(await server.sql('select n from numbers')).toEqual([{ n: 2 }]);
    });

    test('reports a write that failed without being waited for, and those beside it are committed', async () => {
      const write = statement<never>((db, param) =>
        db.insertInto('numbers' as 'settings').values({ n: param('n') } as never),
      );
      const writing = (...all: number[]) =>
        store.write(1, async (trx) => {
          for (const n of all) expect(await write(trx, { n })).toEqual([]);
        });
      const told = await Promise.allSettled([writing(1, 1), writing(2), writing(3, 3)]);
      const states = told.map((one) => (one.status === 'rejected' ? sqlState(one.reason) : 'done'));
      expect(states).toEqual(['23505', 'done', '23505']);
      expect(await server.sql('select n from numbers')).toEqual([{ n: 2 }]);
    });

    test('that takes long holds up none of another organization', async () => {
      const gate = Promise.withResolvers<void>();
      const isWritten = Promise.withResolvers<void>();
      const long = store.write(1, async (trx) => {
        // The others take as long as they take.
        await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx);
        await put(trx, 1);
        isWritten.resolve();
        await gate.promise;
      });
      await isWritten.promise;
      const others = Array.from({ length: 12 }, (_, index) => index + 2);
      await Promise.all(others.map((org) => store.write(org, (trx) => put(trx, org))));
      expect(await server.sql('select n from numbers order by n')).toEqual(others.map((n) => ({ n })));
      gate.resolve();
      await long;
      expect(await count()).toBe(13);
    });

    test('that a deadlock ended is run again, once', async () => {
      let runs = 0;
      const deadlocked = (times: number) =>
        store.write(1, async (trx) => {
          runs += 1;
          await put(trx, runs);
          if (runs <= times)
            await sql`do $$ begin raise exception using errcode = '40P01'; end $$`.execute(trx);
        });
      await deadlocked(1);
      expect([runs, await count()]).toEqual([2, 1]);
      runs = 0;
      await server.sql('truncate numbers');
      expect(isUnreachable(await told(deadlocked(2)))).toBe(true);
      expect([runs, await count()]).toEqual([2, 0]);
    });

    test(
      'after a lost connection is done on the next one',
      async () => {
        await store.write(1, (trx) => put(trx, 1));
        await server.stop('kill');
        const error = await told(store.write(1, (trx) => put(trx, 2)));
        expect(isUnreachable(error)).toBe(true);
        await server.start();
        await store.write(1, (trx) => put(trx, 3));
        expect(await server.sql('select n from numbers order by n')).toEqual([{ n: 1 }, { n: 3 }]);
      },
      LONG,
    );
  });
});
