// The store on PostgreSQL: connections for reading and for writing, and checks for what can go wrong with either.
import type { DatabaseError } from '../database-error.ts';
import { ProcessSignals } from '../engine/change-signals.ts';
import type { Trx } from '../engine/schema.ts';
import type { StoreStats } from '../engine/store-stats.ts';
import { type Scope, WriteQueue } from '../engine/write-queue.ts';
import { type PostgresAddress, parseAddress } from './address.ts';
import { withAdvisoryLock } from './advisory-lock.ts';
import { ChangeNotifier, serverChanges } from './change-source.ts';
import { assertWritable, checkServer } from './check-server.ts';
import { clientOptions } from './client-options.ts';
import { clockError } from './clock-check.ts';
import { PostgresConnection } from './connection.ts';
import { PostgresCounters } from './counters.ts';
import { explainOpening, explainStatement, silentServerError } from './errors.ts';
import { Health } from './health.ts';
import { migratePostgres } from './migrate.ts';
import { findPassword } from './password.ts';
import { analyzeUnknown, TableGrowth } from './planner-statistics.ts';
import { PostgresPool } from './pool.ts';
import { checkPooler } from './pooler.ts';
import { RemovedRows } from './removed-rows.ts';
import type { ConnectionPurpose } from './settings.ts';
import { watchSilence } from './silence.ts';
import { withTimeout } from './timeout.ts';
import { PostgresTransactor } from './transactor.ts';

const COUNTERS = 2;
const CLOCK_EVERY_MS = 60_000;
const READY_MS_MAX = 3_000;
const FIGURES_MS_MAX = 2_000;
const CLOSE_MS_MAX = 900;
// Of the ten seconds after which a client gets an error.
const ANSWER_MS_MAX = 9_000;

export interface PostgresOptions {
  /** Whether an empty database gets its tables; true by default. */
  create?: boolean;
  /** Receives warnings for the operator. */
  onWarning?: (warning: string) => void;
  /** Called when the database cannot be reached or must not be served, and with null once that is over. */
  onUnready?: (trouble: DatabaseError | null) => void;
  /** The clock for counting minutes, in Unix milliseconds; the database's by default. */
  clock?: () => number;
}

/**
 * Opens the store in the database at that URL, and updates its schema.
 * @throws DatabaseAddressError if the URL is not valid; PostgresError if the database cannot be used
 */
export async function openPostgres(text: string, options: PostgresOptions = {}) {
  const address = parseAddress(text);
  const { password, warning } = findPassword(address);
  if (warning !== null) options.onWarning?.(warning);
  address.password = password;
  await prepare(address, options);
  return serveFrom(address, options);
}

// On a separate connection, because it can take long.
async function prepare(
  address: PostgresAddress,
  { create = true, onWarning }: PostgresOptions,
): Promise<void> {
  const options = clientOptions(address, 'migrating');
  const open = () => new PostgresConnection(options, (error) => explainOpening(address, error));
  const connection = open();
  const checkAll = async () => {
    await checkServer(address, connection);
    await checkPooler(address, connection, { another: open, onWarning });
    await assertWritable(address, connection);
    const trouble = await clockError(address, connection);
    if (trouble !== null) throw trouble;
  };
  try {
    await withTimeout(ANSWER_MS_MAX, checkAll(), () => silentServerError(address, ANSWER_MS_MAX));
    await migratePostgres(connection, address, create);
    await analyzeUnknown(connection);
  } catch (error) {
    throw explainStatement(address, error);
  } finally {
    await connection.close();
  }
}

function serveFrom(address: PostgresAddress, { onUnready, clock }: PostgresOptions) {
  const connections: PostgresConnection[] = [];
  const health = new Health(address, onUnready);
  const make = (purpose: ConnectionPurpose) => {
    const options = { ...clientOptions(address, purpose), onconnect: () => health.noteReached() };
    return new PostgresConnection(options, (error) => health.explain(error));
  };
  const connect = (count: number, purpose: ConnectionPurpose) => {
    const made = Array.from({ length: count }, () => make(purpose));
    connections.push(...made);
    return made;
  };
  const reader = new PostgresPool(connect(address.readers, 'reading'));
  const counter = new PostgresPool(connect(COUNTERS, 'counting'));
  const growth = new TableGrowth(() => make('analyzing'));
  const removed = new RemovedRows(() => make('analyzing'));
  const transactor = new PostgresTransactor(connect(address.writers, 'writing'), { growth, removed });
  const signals = new ProcessSignals(serverChanges(reader, clientOptions(address, 'listening')));
  const notifier = new ChangeNotifier(counter);
  const queue = new WriteQueue(transactor, (last) => {
    signals.heard(last);
    notifier.note(last);
  });
  const watchingSilence = watchSilence(connections);
  const checkingClock = setInterval(() => health.checkClock(reader), CLOCK_EVERY_MS);
  return {
    read: reader.db,
    write: <T>(scope: Scope, job: (trx: Trx) => Promise<T>) => queue.write(scope, job),
    keyVersion: () => null,
    signals,
    endSnapshot: () => undefined,
    isShared: true,
    counters: new PostgresCounters(counter, clock),
    alone: (job: () => Promise<void>) => withAdvisoryLock(make('writing'), job),
    deadline: { ms: ANSWER_MS_MAX, tooLate: () => silentServerError(address, ANSWER_MS_MAX) },
    ready: async () => {
      if (health.clock !== null) throw health.clock;
      const looks = Promise.all([reader.run('select 1'), assertWritable(address, counter)]);
      await withTimeout(READY_MS_MAX, looks, () => silentServerError(address, READY_MS_MAX));
    },
    stats: async (): Promise<StoreStats> => ({
      engine: 'postgresql',
      writes: queue.stats,
      waitingJobs: queue.waitingJobs,
      databaseBytes: await databaseBytes(address, counter),
      file: null,
      pools: [reader.stats('reading'), transactor.stats('writing'), counter.stats('counting')],
    }),
    close: async () => {
      clearInterval(checkingClock);
      const closing = Promise.all([signals.close(), queue.close().then(() => notifier.close())]);
      // Does not wait for statements that are still unanswered; their end is reported anyway.
      await Promise.race([closing, Bun.sleep(CLOSE_MS_MAX)]);
      clearInterval(watchingSilence);
      await Promise.all([growth, removed, ...connections].map((one) => one.close()));
    },
  };
}

async function databaseBytes(address: PostgresAddress, pool: PostgresPool): Promise<number | null> {
  const asking = pool.run('select pg_database_size(current_database()) as bytes');
  try {
    const [row] = await withTimeout(FIGURES_MS_MAX, asking, () => silentServerError(address, FIGURES_MS_MAX));
    return Number(row?.bytes);
  } catch {
    return null;
  }
}
