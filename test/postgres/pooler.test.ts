// A pooler between crm and PostgreSQL: refused where statements of one connection would be run for another, else let be.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { DatabaseError } from '../../db/database-error.ts';
import { parseAddress } from '../../db/postgres/address.ts';
import { withAdvisoryLock } from '../../db/postgres/advisory-lock.ts';
import { clientOptions } from '../../db/postgres/client-options.ts';
import { PostgresConnection } from '../../db/postgres/connection.ts';
import { openStore } from '../../db/store.ts';
import { Pooler, type PoolMode } from '../support/pooler.ts';
import { PostgresServer, postgresPrograms } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const LONG = 300_000;
// One for each connection of a store, and those that it starts with.
const SESSIONS = 16;

describe.skipIf(postgresPrograms === null)('a pooler', () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await PostgresServer.start();
    await (await openStore(postgres.address())).close();
  }, LONG);
  afterAll(() => postgres.close());

  async function behind(mode: PoolMode, sessions: number) {
    const pooler = await Pooler.start(postgres.port, 'crm', mode, sessions);
    const address = pooler.through(postgres.address());
    return { address, [Symbol.asyncDispose]: () => pooler.stop() };
  }

  test.each([1, 2, 3, 5, SESSIONS])(
    'that gives %i sessions out by transactions, without regard to prepared statements, is refused in words',
    async (sessions) => {
      await using pooler = await behind('transaction', sessions);
      const refusal = await openStore(pooler.address).then(
        () => new Error('opened'),
        (error: unknown) => error,
      );
      expect(refusal).toBeInstanceOf(DatabaseError);
      const { message, nextSteps } = refusal as DatabaseError;
      expect(message).toContain('is behind a pooler that does not keep the session state crm needs');
      expect(nextSteps.join(' ')).toMatch(/pool_mode = session.*1\.21.*max_prepared_statements = 1000/);
    },
  );

  test('that keeps a session for each connection is used; timeouts that it drops are reported', async () => {
    await using pooler = await behind('session', SESSIONS);
    const warningsOf = async () => {
      const warnings: string[] = [];
      const store = await openStore(pooler.address, { onWarning: (warning) => warnings.push(warning) });
      await until(() =>
        store.ready().then(
          () => true,
          () => false,
        ),
      );
      await store.close();
      return warnings.join('\n');
    };
    const warned = await warningsOf();
    expect(warned).toContain("drops crm's timeouts");
    const commands = warned.split('\n').filter((line) => line.startsWith('ALTER ROLE'));
    expect(commands).toHaveLength(3);
    for (const command of commands) await postgres.sql(command);
    await using later = await behind('session', SESSIONS);
    const store = await openStore(later.address, { onWarning: (warning) => expect(warning).toBe('') });
    await store.close();
    for (const command of commands) await postgres.sql(command.replace(/ SET (\w+) =.*/, ' RESET $1'));
  });

  test('keeps no lock of a job that one node at a time does', async () => {
    await using pooler = await behind('transaction', 2);
    const options = clientOptions(parseAddress(pooler.address), 'writing');
    let runs = 0;
    // Each in another session of the two.
    for (let turn = 0; turn < 2; turn += 1) {
      const connection = new PostgresConnection(options, async (error) => error as Error);
      await withAdvisoryLock(connection, async () => {
        runs += 1;
      });
    }
    expect(runs).toBe(2);
  });
});
