// Starts the service: lock, database, app, socket; stops it in the opposite order.

import { createSharedMemory } from '../db/counters/shared-memory.ts';
import { setChangesDays } from '../db/removal/change-retention.ts';
import { lockForServing, openStore, type Store, type StoreOptions } from '../db/store.ts';
import { makeSigningSecret, makeWebhookKey } from '../db/tables/settings.ts';
import { startBackgroundWork } from './background-work.ts';
import { CertificateRenewal } from './lifecycle/certificate-renewal.ts';
import { canSteer, closeListening } from './lifecycle/reuseport-steering.ts';
import { StopTime } from './lifecycle/stop-time.ts';
import { findOldServer, takeOverFrom } from './lifecycle/takeover-new-server.ts';
import { waitForConnectionsToClose } from './lifecycle/takeover-old-server.ts';
import { ListenerGroup, type ListenerGroupOptions } from './listener-group.ts';
import { LineWriter, stderrWrite } from './logging/line-writer.ts';
import type { LogFile } from './logging/log-file.ts';
import { lostLine } from './logging/logger.ts';
import { Measurement, MetricsAddressError, type MetricsOptions } from './metrics/measurement.ts';
import { exitOnFailure, tell, tellTrouble } from './operator-lines.ts';
import type { PurgeOptions } from './purge.ts';
import { serveWebhooks } from './webhooks/serve-webhooks.ts';
import { WebhookStats } from './webhooks/webhook-stats.ts';

export interface ServeOptions extends ListenerGroupOptions, PurgeOptions {
  /** Where metrics are served, and their sources; without it nothing is measured. */
  metrics?: MetricsOptions;
  /** Whether to take the port and the database over from a running server, if there is one. */
  takesOver?: boolean;
  /** Whether `handOver` will be called when another server takes over. */
  handsOver?: boolean;
  /** Called before the schema of an existing file is updated, with the migrations that it lacks. */
  beforeMigrations?: StoreOptions['beforeMigrations'];
  /** Called when the previous server has been asked to stop, and again once it has, with the milliseconds it took. */
  onTakeOver?: (pid: number, ms: number | null) => Promise<void>;
  /** Where request log lines go instead of stderr. */
  logFile?: LogFile;
  /** For how many days changes are kept, by all servers of the database; by default as it was set before. */
  changesDays?: number;
}

export interface RunningServer {
  /** The public URL. */
  url: string;
  /** The listen address as a URL. */
  listensOn: string;
  docsUrl: string;
  /** URL of the metrics; null without metrics. */
  metricsUrl: string | null;
  /** Whether the database has no organization yet. */
  isEmpty: boolean;
  /**
   * Reads certificate and key again; false without HTTPS.
   * @throws the reason why they cannot be used; the previous ones stay in use
   */
  reopenCertificates(): Promise<boolean>;
  /**
   * Reopens the log file, if the log goes to a file.
   * @throws the reason why that failed; the log then stays in the current file
   */
  reopenLog(): void;
  /** Writes lines for the operator to stderr, immediately and in order with log lines that go there. */
  tell(text: string): void;
  /**
   * Keeps answering for a moment but sends clients elsewhere: for `ms` milliseconds, by default until requests stop
   * arriving, for at most 2 s. Counts towards the 10 s of `stop`.
   */
  drain(ms?: number): Promise<void>;
  /**
   * Finishes running requests, releases the database to the server that takes over, and hands it the later requests on
   * open connections; resolves when that is complete, within 75 s, or at `end`.
   */
  handOver(end: Promise<unknown>): Promise<void>;
  /** Lets running requests finish, for at most 10 s, and closes everything. */
  stop(): Promise<void>;
}

// Requests wait meanwhile.
const WEBHOOKS_HANDOVER_MS = 300;

/**
 * Serves a database.
 * @throws DatabaseError if the file cannot be used, served or taken over; the system's error if the port is taken
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
  // However the process ends, as long as JavaScript still runs.
  process.on('exit', endLines);
  const common = options.readers ? createSharedMemory() : undefined;
  // Threads receive only what can be copied.
  const { takesOver = false, onTakeOver: _, beforeMigrations, metrics, logFile: __, ...entered } = options;
  const measurement = metrics && new Measurement(metrics);
  const listenerGroup = new ListenerGroup(entered, {
    common,
    measurement,
    addLine: (line) => logLines.add(line),
    onFailure: (error) => exitOnFailure(lines, 'A server thread', error, 'starts all threads again'),
  });
  let unlock: () => void = () => undefined;
  const release = () => {
    process.off('exit', endLines);
    endLines();
    unlock();
  };
  try {
    if (takesOver) await takeOver(listenerGroup, options);
    unlock = lockForServing(options.db, {
      pid: process.pid,
      since: new Date().toISOString(),
      address: `${options.host}:${options.port}`,
      handsOver: options.handsOver === true && canSteer(),
      takeoverSocket: listenerGroup.takeoverSocket,
    });
    const store = await openStore(options.db, {
      // After a failed write nothing in memory can be trusted; a restart reads what is on the disk.
      onDiskFailure: (error) =>
        exitOnFailure(lines, 'The disk of the database', error, 'recovers what was written'),
      onTrouble: (trouble) => tellTrouble(lines, trouble, 'Writes return 503 until this is fixed.'),
      onUnready: (trouble) => tellTrouble(lines, trouble, '/readyz returns 503 until this is fixed.'),
      onWarning: (warning) => tell(lines, warning),
      ...(common && { common }),
      ...(beforeMigrations && { beforeMigrations }),
    });
    return await serve({ store, lines, logLines, listenerGroup, measurement, release }, options).catch(
      async (error) => {
        await listenerGroup.close();
        await store.close();
        throw error;
      },
    );
  } catch (error) {
    await listenerGroup.close();
    release();
    throw error;
  }
}

async function takeOver(
  listenerGroup: ListenerGroup,
  { onTakeOver, ...options }: ServeOptions,
): Promise<void> {
  const { count } = listenerGroup;
  const former = await findOldServer({ ...options, count });
  if (former === null) return;
  const startedAt = performance.now();
  await onTakeOver?.(former.pid, null);
  await takeOverFrom(former, count, async () => {
    await listenerGroup.wait();
    return listenerGroup.takeoverSocket !== null;
  });
  await onTakeOver?.(former.pid, performance.now() - startedAt);
}

interface Parts {
  store: Store;
  /** For the operator. */
  lines: LineWriter;
  /** For the log, which can use the same writer. */
  logLines: LineWriter;
  listenerGroup: ListenerGroup;
  measurement: Measurement | undefined;
  release: () => void;
}

async function serve(
  { store, lines, logLines, listenerGroup, measurement, release }: Parts,
  options: ServeOptions,
): Promise<RunningServer> {
  await store.write('accounts', async (trx) => {
    await makeSigningSecret(trx);
    await makeWebhookKey(trx);
    if (options.changesDays !== undefined) await setChangesDays(trx, options.changesDays);
  });
  const { url, listensOn, listeners, handovers, requestMetrics } = await listenerGroup.start(store);
  await measurement?.open(store, options.readers ?? 0, requestMetrics).catch((error: Error) => {
    if (!options.takesOver || !(error instanceof MetricsAddressError)) throw error;
    // The previous server has already stopped, so starting without metrics is better than not at all.
    tell(lines, `The server runs without metrics: ${error.message}.`);
  });
  const webhooks = await serveWebhooks({
    ...{
      store,
      db: options.db,
      networks: options.webhookNetworks ?? [],
      stats: measurement?.webhooks ?? new WebhookStats(),
    },
    tell: (line) => tell(lines, line),
  });
  const background = startBackgroundWork(store, options, (line) => tell(lines, line));
  const stopTime = new StopTime();
  const renewal = new CertificateRenewal(options.tls, listeners);
  const close = async () => {
    await Promise.all(listeners.map((listener) => listener.stop()));
    listenerGroup.removeTakeoverSocket();
  };
  const giveUp = async () => {
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
      // Lines logged so far belong to the file that was moved away.
      logLines.flush();
      options.logFile?.reopen();
    },
    tell: (text) => tell(lines, text),
    drain: async (ms) => {
      stopTime.begin();
      if (measurement !== undefined) measurement.isDraining = true;
      await Promise.all(listeners.map((listener) => listener.drain(ms)));
    },
    handOver: async (end) => {
      renewal.end();
      const workStopped = Promise.all([webhooks.stop(WEBHOOKS_HANDOVER_MS), background.stop()]);
      await Promise.all(handovers.map((one) => one.queueRequests()));
      closeListening();
      await Promise.all(handovers.map((one) => one.forwardRequests()));
      await workStopped;
      await giveUp();
      await waitForConnectionsToClose(options.db, end);
      await close();
    },
    stop: async () => {
      const stopWork = (graceMs: number) => Promise.all([webhooks.stop(graceMs), background.stop()]);
      await Promise.all([close(), stopTime.limit(stopWork)]);
      await giveUp();
    },
  };
}
