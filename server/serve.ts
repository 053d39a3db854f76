// Starts the service: lock, database, app, socket; and stops it in the opposite order.

import { type CommonMemory, commonMemory } from '../db/common-memory.ts';
import type { Network } from '../db/declare/networks.ts';
import { type DatabaseError, lockForServing, openStore, type Store } from '../db/store.ts';
import { purgeStoredResponses } from '../db/tables/idempotency.ts';
import { makeSigningSecret } from '../db/tables/settings.ts';
import { type Addresses, addressesOf, openFront } from './front.ts';
import { LineWriter, stderrWrite } from './line-writer.ts';
import { type CertificateFiles, freePort, type Listening, readCertificate } from './listener.ts';
import { createLogger, type LogStyle, lostLine } from './log.ts';
import { FrontMetrics } from './metrics/front-metrics.ts';
import { type FrontCount, Measurement } from './metrics/measurement.ts';
import type { MetricsOptions } from './metrics/metrics.ts';
import type { BodyLimits } from './pipeline/body-budget.ts';
import { storeExecutor } from './pipeline/execute.ts';
import { startReaderThreads } from './readers/reader-threads.ts';
import { Renewal } from './renewal.ts';

export interface ServeOptions {
  /** Path of the database file. */
  db: string;
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** Where clients reach the service, if that is not where it listens. */
  baseUrl?: string;
  tls?: CertificateFiles;
  /** Whose X-Forwarded-For is believed; nobody's unless said. */
  trustedProxies?: readonly Network[];
  keyLimit: number;
  orgLimit: number;
  /** Bytes of request bodies that an organization, and all together, may have under way. */
  bodyLimits?: BodyLimits;
  /** Threads that answer requests, this one only writing for them; 0, unless said, for none. Of a file only. */
  readers?: number;
  log: LogStyle;
  /** Where metrics are told, and what of; nothing is counted for them unless given. */
  metrics?: MetricsOptions;
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
  /** Writes lines for the operator to stderr, at once and in order with those of the log. */
  tell(text: string): void;
  /**
   * Goes on for a moment but sends clients elsewhere: for so many milliseconds, else as long as requests come, for at most
   * 2 s. It is within the 10 s of `stop`.
   */
  drain(ms?: number): Promise<void>;
  /** Lets running requests finish, for at most 10 s, and closes everything. */
  stop(): Promise<void>;
}

const PURGE_EVERY_MS = 10 * 60_000;

/**
 * Serves a database.
 * @throws DatabaseError if the file cannot be used or is served already; the system's error if the port is taken
 */
export async function startServer(options: ServeOptions): Promise<RunningServer> {
  const unlock = lockForServing(options.db, {
    pid: process.pid,
    since: new Date().toISOString(),
    address: `${options.host}:${options.port}`,
  });
  const lines = new LineWriter(stderrWrite(), (count) => lostLine(options.log, count));
  const endLines = () => lines.end();
  // However the process ends, if JavaScript hears of it.
  process.on('exit', endLines);
  const release = () => {
    process.off('exit', endLines);
    endLines();
    unlock();
  };
  const common = options.readers ? commonMemory() : undefined;
  try {
    const store = await openStore(options.db, {
      // After a failed write nothing in memory can be trusted; a restart reads what is really on the disk.
      onDiskFailure: (error) =>
        exitOnFailure(lines, 'The disk under the database', error, 'can settle what was written'),
      onTrouble: (trouble) => tellTrouble(lines, trouble, 'Writes are refused (503).'),
      onUnready: (trouble) => tellTrouble(lines, trouble, 'Until that is over /readyz answers 503.'),
      onWarning: (warning) => tell(lines, warning),
      ...(common && { common }),
    });
    return await serve({ store, lines, common, release }, options).catch(async (error) => {
      await store.close();
      throw error;
    });
  } catch (error) {
    release();
    throw error;
  }
}

interface Parts {
  store: Store;
  lines: LineWriter;
  /** What reader threads share; undefined where there are none. */
  common: CommonMemory | undefined;
  release: () => void;
}

async function serve(parts: Parts, options: ServeOptions): Promise<RunningServer> {
  const { store, lines, release } = parts;
  await store.write('accounts', makeSigningSecret);
  const measurement = options.metrics && new Measurement(options.metrics);
  const { url, listensOn, listeners, fronts } = await listen(parts, options, measurement);
  await measurement?.open(store, options.readers ?? 0, fronts).catch(async (error: unknown) => {
    await Promise.all(listeners.map((listener) => listener.stop()));
    throw error;
  });
  const renewal = new Renewal(options.tls, listeners);
  const purging = setInterval(() => {
    // What goes wrong is left for the next time; requests that write tell of the same trouble.
    store.alone(() => purge(store)).catch(() => undefined);
  }, PURGE_EVERY_MS);
  const organization = await store.read.selectFrom('organizations').select('id').limit(1).executeTakeFirst();
  return {
    url,
    listensOn,
    docsUrl: `${url}/docs`,
    metricsUrl: measurement?.url ?? null,
    isEmpty: organization === undefined,
    reopenCertificates: () => renewal.reopen(),
    tell: (text) => tell(lines, text),
    drain: async (ms) => {
      if (measurement !== undefined) measurement.isDraining = true;
      await Promise.all(listeners.map((listener) => listener.drain(ms)));
    },
    stop: async () => {
      clearInterval(purging);
      await Promise.all(listeners.map((listener) => listener.stop()));
      await measurement?.stop();
      await store.close();
      release();
    },
  };
}

interface Listeners extends Addresses {
  listeners: readonly Listening[];
  fronts: readonly FrontCount[];
}

// This thread listens, or others do for it.
async function listen(
  { store, lines, common }: Parts,
  options: ServeOptions,
  measurement: Measurement | undefined,
): Promise<Listeners> {
  const { readers = 0, tls, log } = options;
  const isPortShared = common !== undefined || tls !== undefined;
  const front = {
    ...options,
    isPortShared,
    port: isPortShared ? await freePort(options.host, options.port) : options.port,
    ...(tls && { certificate: readCertificate(tls) }),
  };
  const addLine = (line: string) => lines.add(line);
  if (common === undefined) {
    const logger = createLogger(log, addLine);
    const observer = measurement && new FrontMetrics();
    const { listener, ...addresses } = openFront({
      ...front,
      store,
      executor: storeExecutor(store, { observer: measurement?.batches }),
      ...(logger && { logger }),
      ...(observer && { observer }),
    });
    const count = () => observer?.metrics(listener.pending) ?? [];
    return { ...addresses, listeners: [listener], fronts: [count] };
  }
  const threads = await startReaderThreads({
    ...front,
    isMeasured: measurement !== undefined,
    writeObserver: measurement?.batches,
    common,
    count: readers,
    store,
    addLine,
    onFailure: (error) => exitOnFailure(lines, 'A thread of the server', error, 'has all of them again'),
  });
  const fronts = threads.map((thread) => () => thread.metrics());
  return { ...addressesOf(front), listeners: threads, fronts };
}

async function purge(store: Store): Promise<void> {
  await purgeStoredResponses(store, Date.now());
  await store.counters.purge();
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
