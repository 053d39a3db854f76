// Starts the service: lock, database, app, socket; and stops it in the opposite order.
import { hostname } from 'node:os';
import { commonMemory } from '../db/counters/shared-memory.ts';
import { type DatabaseError, lockForServing, openStore, type Store, type StoreOptions } from '../db/store.ts';
import { pruneAudit } from '../db/tables/audit.ts';
import { purgeStoredResponses } from '../db/tables/idempotency.ts';
import { makeSigningSecret } from '../db/tables/settings.ts';
import { Renewal } from './lifecycle/certificate-renewal.ts';
import { canSteer, closeListening } from './lifecycle/reuseport-steering.ts';
import { findFormerServer, takeOverFrom } from './lifecycle/takeover-new-server.ts';
import { linger } from './lifecycle/takeover-old-server.ts';
import { Entrance, type EntranceOptions } from './listener-group.ts';
import { LineWriter, stderrWrite } from './logging/line-writer.ts';
import type { RequestLog } from './logging/log-file.ts';
import { lostLine } from './logging/logger.ts';
import { Measurement, MetricsAddressError } from './metrics/measurement.ts';
import type { MetricsOptions } from './metrics/metrics.ts';

export interface ServeOptions extends EntranceOptions {
  /** Where metrics are told, and what of; nothing is counted for them unless given. */
  metrics?: MetricsOptions;
  /** Whether to take port and database over from the server that has them, if there is one. */
  takesOver?: boolean;
  /** Whether it will be told, by `handOver`, when another server takes over. */
  handsOver?: boolean;
  /** Called before a file that is in use is brought up to date, with the migrations that it lacks. */
  beforeMigrations?: StoreOptions['beforeMigrations'];
  /** Called when the former server has been told to end, and with how many milliseconds it took once it has. */
  onTakeOver?: (pid: number, ms: number | null) => Promise<void>;
  /** Where the lines of requests go in place of stderr. */
  logFile?: RequestLog;
  /** How long entries of the audit log are kept, in milliseconds; for ever unless said. */
  auditKeepMs?: number;
}

export interface RunningServer {
  /** Where clients reach it. */
  url: string;
  /** Where it listens. */
  listensOn: string;
  docsUrl: string;
  /** Where metrics are told; null where they are not. */
  metricsUrl: string | null;
  /** Whether the database has no organization yet. */
  isEmpty: boolean;
  /**
   * Reads certificate and key anew; false where it serves no HTTPS.
   * @throws the reason why they cannot be used; what was served before goes on being served
   */
  reopenCertificates(): Promise<boolean>;
  /**
   * Has the log, where it goes to a file, go on in what lies at its path now.
   * @throws the reason why that cannot be used; the log goes on where it went
   */
  reopenLog(): void;
  /** Writes lines for the operator to stderr, at once and in order with those of a log that goes there too. */
  tell(text: string): void;
  /**
   * Goes on for a moment but sends clients elsewhere: for so many milliseconds, else as long as requests come, for at most
   * 2 s. It is within the 10 s of `stop`.
   */
  drain(ms?: number): Promise<void>;
  /**
   * Finishes running requests, gives the database up to the server that takes over, and hands it what still comes on
   * connections that are open; resolves once that is over, within 75 s, or at `end`.
   */
  handOver(end: Promise<unknown>): Promise<void>;
  /** Lets running requests finish, for at most 10 s, and closes everything. */
  stop(): Promise<void>;
}

const PURGE_EVERY_MS = 10 * 60_000;

/**
 * Serves a database.
 * @throws DatabaseError if the file cannot be used, is served already or cannot be taken over; the system's error if the
 *   port is taken
 */
export async function startServer(options: ServeOptions): Promise<RunningServer> {
  const lost = (count: number) => lostLine(options.log, count);
  const lines = new LineWriter(stderrWrite(), lost);
  const { logFile } = options;
  const logLines = logFile === undefined ? lines : new LineWriter(logFile.write, lost);
  const endLines = () => {
    logLines.end();
    lines.end();
  };
  // However the process ends, if JavaScript hears of it.
  process.on('exit', endLines);
  const common = options.readers ? commonMemory() : undefined;
  // Threads are given what can be copied.
  const { takesOver = false, onTakeOver: _, beforeMigrations, metrics, logFile: __, ...entered } = options;
  const measurement = metrics && new Measurement(metrics);
  const entrance = new Entrance(entered, {
    common,
    measurement,
    addLine: (line) => logLines.add(line),
    onFailure: (error) => exitOnFailure(lines, 'A thread of the server', error, 'has all of them again'),
  });
  let unlock: () => void = () => undefined;
  const release = () => {
    process.off('exit', endLines);
    endLines();
    unlock();
  };
  try {
    if (takesOver) await takeOver(entrance, options);
    unlock = lockForServing(options.db, {
      pid: process.pid,
      since: new Date().toISOString(),
      address: `${options.host}:${options.port}`,
      handsOver: options.handsOver === true && canSteer(),
      inlet: entrance.inlet,
    });
    const store = await openStore(options.db, {
      // After a failed write nothing in memory can be trusted; a restart reads what is really on the disk.
      onDiskFailure: (error) =>
        exitOnFailure(lines, 'The disk under the database', error, 'can settle what was written'),
      onTrouble: (trouble) => tellTrouble(lines, trouble, 'Writes are refused (503).'),
      onUnready: (trouble) => tellTrouble(lines, trouble, 'Until that is over /readyz answers 503.'),
      onWarning: (warning) => tell(lines, warning),
      ...(common && { common }),
      ...(beforeMigrations && { beforeMigrations }),
    });
    return await serve({ store, lines, logLines, entrance, measurement, release }, options).catch(
      async (error) => {
        await entrance.close();
        await store.close();
        throw error;
      },
    );
  } catch (error) {
    await entrance.close();
    release();
    throw error;
  }
}

async function takeOver(entrance: Entrance, { onTakeOver, ...options }: ServeOptions): Promise<void> {
  const { count } = entrance;
  const former = await findFormerServer({ ...options, count });
  if (former === null) return;
  const startedAt = performance.now();
  await onTakeOver?.(former.pid, null);
  await takeOverFrom(former, count, async () => {
    await entrance.wait();
    return entrance.inlet !== null;
  });
  await onTakeOver?.(former.pid, performance.now() - startedAt);
}

interface Parts {
  store: Store;
  /** For the operator. */
  lines: LineWriter;
  /** For the log, which may go there too. */
  logLines: LineWriter;
  entrance: Entrance;
  measurement: Measurement | undefined;
  release: () => void;
}

async function serve(
  { store, lines, logLines, entrance, measurement, release }: Parts,
  options: ServeOptions,
): Promise<RunningServer> {
  await store.write('accounts', makeSigningSecret);
  const { url, listensOn, listeners, handovers, fronts } = await entrance.start(store);
  await measurement?.open(store, options.readers ?? 0, fronts).catch((error: Error) => {
    if (!options.takesOver || !(error instanceof MetricsAddressError)) throw error;
    // Nobody else has the database any more.
    tell(lines, `The server goes on without metrics: ${error.message}.`);
  });
  const renewal = new Renewal(options.tls, listeners);
  const purging = setInterval(() => {
    // What goes wrong is left for the next time; requests that write tell of the same trouble.
    store.alone(() => purge(store, options)).catch(() => undefined);
  }, PURGE_EVERY_MS);
  const close = async () => {
    await Promise.all(listeners.map((listener) => listener.stop()));
    entrance.removeInlet();
  };
  const giveUp = async () => {
    clearInterval(purging);
    await measurement?.stop();
    await store.close();
    release();
  };
  const organization = await store.read.selectFrom('organizations').select('id').limit(1).executeTakeFirst();
  return {
    url,
    listensOn,
    docsUrl: `${url}/docs`,
    metricsUrl: measurement?.url ?? null,
    isEmpty: organization === undefined,
    reopenCertificates: () => renewal.reopen(),
    reopenLog: () => {
      // What is known by now belongs to what was moved away.
      logLines.flush();
      options.logFile?.reopen();
    },
    tell: (text) => tell(lines, text),
    drain: async (ms) => {
      if (measurement !== undefined) measurement.isDraining = true;
      await Promise.all(listeners.map((listener) => listener.drain(ms)));
    },
    handOver: async (end) => {
      renewal.end();
      await Promise.all(handovers.map((one) => one.holdBack()));
      closeListening();
      await Promise.all(handovers.map((one) => one.handOver()));
      await giveUp();
      await linger(options.db, end);
      await close();
    },
    stop: async () => {
      await close();
      await giveUp();
    },
  };
}

async function purge(store: Store, { auditKeepMs: keepMs }: ServeOptions): Promise<void> {
  await purgeStoredResponses(store, Date.now());
  await store.counters.purge();
  if (keepMs !== undefined) await pruneAudit(store, { keepMs, host: hostname(), now: Date.now() });
}

function exitOnFailure(lines: LineWriter, of: string, error: unknown, purpose: string): void {
  tell(
    lines,
    `${of} failed: ${error instanceof Error ? error.message : error}`,
    `The server stops, so that a restart ${purpose}.`,
  );
  process.exit(1);
}

function tellTrouble(lines: LineWriter, trouble: DatabaseError | null, effect: string): void {
  if (trouble === null) tell(lines, 'The database is as it should be again: writes go on.');
  else tell(lines, trouble.message, effect, ...trouble.nextSteps.map((step) => `Next: ${step}`));
}

// At once, as the process may be about to end.
function tell(lines: LineWriter, ...texts: readonly string[]): void {
  for (const text of texts) lines.add(text);
  lines.flush();
}
