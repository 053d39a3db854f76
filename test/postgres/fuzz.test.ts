// The client under a mix of queries, errors, cancellations and lost connections: each answer belongs to its question.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { PostgresConnection } from '../../db/postgres/connection.ts';
import { isUnreachable, sqlState } from '../../db/postgres/errors.ts';
import { PostgresPool } from '../../db/postgres/pool.ts';
import { PostgresServer, postgresPrograms } from '../support/postgres.ts';

const QUERIES = Number(process.env.FUZZ_QUERIES ?? 10_000);
const AT_ONCE = 40;
const LONG = 300_000 + QUERIES;

describe.skipIf(postgresPrograms === null)(`${QUERIES} queries`, () => {
  let server: PostgresServer;
  const readers = () => connections.slice(0, 4);
  const connections: PostgresConnection[] = [];
  beforeAll(async () => {
    server = await PostgresServer.start();
    await server.sql('create table kept (n bigint primary key, batch bigint)');
    const options = { url: server.address(), connectionTimeout: 5 };
    for (let count = 0; count < 6; count += 1)
      connections.push(new PostgresConnection(options, async (error) => error as Error));
  }, LONG);
  afterAll(async () => {
    for (const connection of connections) await connection.close();
    await server.close();
  });

  /** Queries of different shapes, each of which tells its number; some fail by themselves. */
  const SHAPES: ((n: number) => [text: string, values: unknown[], expected: unknown])[] = [
    (n) => ['select $1::int8 as n', [n], [{ n }]],
    (n) => ['select $1::int8 as n, $2::text as text', [n, `t${n}`], [{ n, text: `t${n}` }]],
    (n) => [
      'select $2::text as text, $1::int4 as small',
      [n, 'x'.repeat(n % 3_000)],
      [{ text: 'x'.repeat(n % 3_000), small: n }],
    ],
    (n) => [
      'select g::int8 as g from generate_series($1::int, $1::int + 2) g',
      [n],
      [{ g: n }, { g: n + 1 }, { g: n + 2 }],
    ],
    (n) => [`select ${n}::int8 as n${n % 50}`, [], [{ [`n${n % 50}`]: n }]],
    (n) => ['select $1::float8 as real, null::int8 as none', [n + 0.5], [{ real: n + 0.5, none: null }]],
    (n) => ['select 1 / ($1::int - $1::int)', [n], '22012'],
    (n) => [`select no_column${n % 20}`, [], '42703'],
    (n) => ['select $1::int as n, pg_sleep(0.002)', [n], [{ n, pg_sleep: '' }]],
  ];

  test(
    'on connections that are cut and cancelled',
    async () => {
      const pool = new PostgresPool(readers());
      const counts = { answered: 0, failed: 0, lost: 0 };
      let isOver = false;
      const harass = async () => {
        while (!isOver) {
          await Bun.sleep(Math.random() * 30);
          const how = Math.random() < 0.2 ? 'pg_terminate_backend' : 'pg_cancel_backend';
          await server.sql(
            `select ${how}(pid) from pg_stat_activity where state = 'active' and pid <> pg_backend_pid() limit 1`,
          );
        }
      };
      const ask = async (n: number) => {
        const shape = SHAPES[Math.floor(Math.random() * SHAPES.length)];
        const [text, values, expected] = shape?.(n) ?? ['', [], null];
        try {
          const rows = await pool.run(text, values);
          expect([...rows]).toEqual(expected as never);
          counts.answered += 1;
        } catch (error) {
          if (isUnreachable(error)) counts.lost += 1;
          else if (sqlState(error) === expected) counts.failed += 1;
          else throw error;
        }
      };
      const harassing = harass();
      let next = 0;
      const askAll = async () => {
        while (next < QUERIES) await ask(next++);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, askAll));
      isOver = true;
      await harassing;
      expect(counts.answered).toBeGreaterThan(QUERIES / 2);
      expect(counts.failed).toBeGreaterThan(0);
      expect(counts.lost).toBeGreaterThan(0);
      for (const connection of readers())
        expect([...(await connection.run('select 1 as one'))]).toEqual([{ one: 1 }]);
    },
    LONG,
  );

  test(
    'in transactions that are cut: all of one or nothing',
    async () => {
      const outcomes = new Map<number, 'committed' | 'lost'>();
      let isOver = false;
      const harass = async () => {
        while (!isOver) {
          await Bun.sleep(Math.random() * 20);
          await server.sql(
            'select pg_terminate_backend(pid) from pg_stat_activity where xact_start is not null and pid <> pg_backend_pid() limit 1',
          );
        }
      };
      const harassing = harass();
      const write = async (connection: PostgresConnection, batch: number) => {
        try {
          await connection.begin();
          for (let n = 0; n < 4; n += 1)
            await connection.run('insert into kept values ($1, $2)', [batch * 10 + n, batch]);
          await connection.commit();
          outcomes.set(batch, 'committed');
        } catch (error) {
          await connection.rollback();
          if (!isUnreachable(error)) throw error;
          outcomes.set(batch, 'lost');
        }
      };
      let next = 0;
      const writeAll = async (connection: PostgresConnection) => {
        while (next < QUERIES / 20) await write(connection, next++);
      };
      await Promise.all(connections.map(writeAll));
      isOver = true;
      await harassing;
      const rows = await server.sql('select batch::int, count(*)::int as n from kept group by batch');
      for (const { n } of rows) expect(n).toBe(4);
      const kept = new Set(rows.map(({ batch }) => batch));
      const committed = [...outcomes]
        .filter(([, outcome]) => outcome === 'committed')
        .map(([batch]) => batch);
      expect(committed.filter((batch) => !kept.has(batch))).toEqual([]);
      expect(committed.length).toBeLessThan(outcomes.size);
    },
    LONG,
  );
});
