// The store on PostgreSQL: connections that read, connections that write, and a schema that one node at a time brings up to date.
import { Migrator } from 'kysely';
import { MIGRATIONS } from '../migrations/index.ts';
import type { Db } from '../schema.ts';
import { type Scope, WriteQueue } from '../write-queue.ts';
import { PostgresConnection } from './connection.ts';
import { PostgresCounters } from './counters.ts';
import { insertAccountsLock, PostgresTransactor } from './transactor.ts';

const READERS = 6;
const WRITERS = 6;
const COUNTERS = 2;
const CONNECT_SECONDS_MAX = 5;

// All below the ten seconds after which a client is told that the database cannot be reached.
const SETTINGS = {
  application_name: 'crm',
  statement_timeout: '9s',
  lock_timeout: '8s',
  idle_in_transaction_session_timeout: '5s',
};

/** Opens the store in the database at that address, and brings its schema up to date. */
export async function openPostgres(url: string, clock?: () => number) {
  const connect = (max: number, settings: Record<string, string>) =>
    new PostgresConnection({
      url,
      max,
      adapter: 'postgres',
      connectionTimeout: CONNECT_SECONDS_MAX,
      connection: { ...SETTINGS, ...settings },
    });
  const writers = Array.from({ length: WRITERS }, () => connect(1, {}));
  const reader = connect(READERS, { default_transaction_read_only: 'on' });
  // What a crash forgets of a minute's counts is of no use by the time the database is back.
  const counter = connect(COUNTERS, { synchronous_commit: 'off' });
  const [first] = writers;
  if (first === undefined) throw new Error('nothing writes');
  await migrate(first);
  const queue = new WriteQueue(new PostgresTransactor(writers));
  return {
    read: reader.db,
    write: <T>(scope: Scope, job: (trx: Db) => Promise<T>) => queue.write(scope, job),
    keyMark: () => null,
    counters: new PostgresCounters(counter, clock),
    ready: async () => {
      await reader.run('select 1');
    },
    close: async () => {
      await queue.close();
      await Promise.all([reader, counter, ...writers].map((connection) => connection.close()));
    },
  };
}

// Any number that is always the same.
const MIGRATION_LOCK = 4_209_921;

async function migrate(connection: PostgresConnection): Promise<void> {
  await connection.run('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
  try {
    await connection.run('begin');
    const migrator = new Migrator({
      db: connection.db,
      provider: { getMigrations: async () => MIGRATIONS },
      disableTransactions: true,
    });
    const { error } = await migrator.migrateToLatest();
    if (error !== undefined) throw error;
    await insertAccountsLock(connection.db);
    await connection.run('commit');
  } catch (error) {
    await connection.run('rollback');
    throw error;
  } finally {
    await connection.run('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);
  }
}
