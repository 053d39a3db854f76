// Carries out `crm serve`: starts the server, tells who waits for it, and stops it in order.
import { existsSync } from 'node:fs';
import { isDatabaseAddress } from '../../db/database-address.ts';
import { databaseLabel, hasPassword } from '../../db/store.ts';
import { type RunningServer, type ServeOptions, startServer } from '../../server/serve.ts';
import { isLoopback } from '../api/loopback.ts';
import { BackupSchedule } from '../backup/schedule.ts';
import { backupPlan } from '../backup/serve-options.ts';
import { databaseError, databaseFlag } from '../database/database.ts';
import { assertCanMigrate, backUpBeforeMigrations } from '../database/migration-backup.ts';
import type { Config } from '../settings/config.ts';
import { formatTime } from '../terminal/format.ts';
import { onHangUp, type StopRequest, stopRequested } from '../terminal/interrupt.ts';
import { note, stderr } from '../terminal/streams.ts';
import { COMMIT, VERSION } from '../version.ts';
import { serveInBackground, tellStarter } from './background.ts';
import { metricsError, serveError } from './errors.ts';
import { openLog, reopenFiles } from './files.ts';
import { auditKeepMs, checkFlags, metricsAddress, type ServeFlags } from './flags.ts';
import { tellMainProcess, tellReady } from './service-manager.ts';

const MEBIBYTE = 1024 * 1024;

/** Serves until a signal stops it, or another server takes over. */
export async function runServe(options: ServeFlags, config: Config): Promise<void> {
  const door = checkFlags(options, config);
  const keepMs = auditKeepMs(options);
  const plan = backupPlan(options, config.db);
  if (options.background) return serveInBackground();
  const backups = plan && new BackupSchedule(plan);
  const logFile = openLog(options);
  const files = { ...door, ...(logFile && { logFile }) };
  const stop = stopRequested();
  const given = {
    ...files,
    handsOver: stop.hearsHandOver,
    ...(keepMs !== undefined && { auditKeepMs: keepMs }),
    ...(options.changesDays !== undefined && { changesDays: options.changesDays }),
  };
  const starting = start(options, config, given, backups);
  onHangUp(() =>
    starting.then(
      (server) => reopenFiles(server, files),
      () => undefined,
    ),
  );
  const server = await starting.catch((error: unknown) => {
    throw serveError(options, config, error);
  });
  note(
    [
      `crm ${VERSION} is serving ${databaseLabel(config.db)}${server.url === server.listensOn ? '' : ` on ${server.listensOn}`}`,
      `API   ${server.url}/api/v2  and  ${server.url}/api/v1`,
      ...(server.metricsUrl === null ? [] : [`Metrics ${server.metricsUrl}`]),
      `Docs  ${server.docsUrl}`,
      `Next: ${nextCommand(server, config)}`,
    ].join('\n'),
  );
  if (options.db !== undefined && hasPassword(options.db)) {
    note(
      'Anyone who can list the processes of this machine sees the password in --db. Use CRM_DB, PGPASSWORD or ~/.pgpass instead.',
    );
  }
  if (options.behindProxy && options.baseUrl === undefined) {
    note('Links in responses start with this URL. Set --base-url to the URL of the proxy for clients.');
  }
  if (options.behindProxy && options.trustedProxy === undefined && !isLoopback(options.host)) {
    note(
      'X-Forwarded-For is trusted from this machine only. For a proxy elsewhere, add --trusted-proxy CIDR.',
    );
  }
  if (options.metricsHost !== undefined && !isLoopback(options.metricsHost)) {
    note('Anyone who can reach this port can read the metrics: they need no API key and are not encrypted.');
  }
  backups?.start((text) => server.tell(text));
  tellReady();
  tellStarter();
  const isTakenOver = await Promise.race([stop.first.then(() => false), stop.handOver.then(() => true)]);
  try {
    if (isTakenOver) await handOver(server, stop, backups);
    else await end(server, stop, { options, backups });
  } catch (error) {
    throw databaseError(config.db, error);
  }
}

async function handOver(
  server: RunningServer,
  stop: StopRequest,
  backups: BackupSchedule | null,
): Promise<void> {
  server.tell('Handing over to the new server: finishing open requests and passing on new ones.');
  await Promise.all([backups?.stop(), server.handOver(stop.first)]);
}

async function end(
  server: RunningServer,
  stop: StopRequest,
  { options, backups }: { options: ServeFlags; backups: BackupSchedule | null },
): Promise<void> {
  server.tell('Shutting down: finishing open requests.');
  const drainMs = options.drainSeconds === undefined ? undefined : options.drainSeconds * 1_000;
  await Promise.all([Promise.race([server.drain(drainMs), stop.hurry]), backups?.stop()]);
  await server.stop();
}

async function start(
  options: ServeFlags,
  config: Config,
  given: Partial<ServeOptions>,
  backups: BackupSchedule | null,
): Promise<RunningServer> {
  // If the port is in use, no empty database must be left behind.
  const isNew = !isDatabaseAddress(config.db) && !existsSync(config.db);
  if (isNew) await tryAddress(options);
  const metrics = metricsAddress(options);
  // Nor may a server that cannot start stop the running one.
  if (metrics !== null && (isNew || options.takeover)) {
    await tryAddress(metrics, options.takeover).catch((error: unknown) => {
      throw metricsError(options, error);
    });
  }
  if (options.takeover) await assertCanMigrate(config.db, options.backup);
  return startServer({
    db: config.db,
    host: options.host,
    port: options.port,
    ...(options.baseUrl !== undefined && { baseUrl: options.baseUrl }),
    ...given,
    keyLimit: options.keyLimit,
    orgLimit: options.orgLimit,
    inFlightLimits: { orgBytes: options.orgBodyMib * MEBIBYTE, allBytes: options.bodyMib * MEBIBYTE },
    readers: options.readers,
    log: options.log ?? (stderr.isTTY ? 'pretty' : 'json'),
    ...(metrics !== null && {
      metrics: {
        ...metrics,
        version: VERSION,
        commit: COMMIT,
        ...(backups && { backups: () => backups.stats }),
      },
    }),
    takesOver: options.takeover ?? false,
    onTakeOver: tellTakeover,
    ...(options.backup && { beforeMigrations: (names) => backUpBeforeMigrations(config.db, names) }),
  });
}

async function tellTakeover(pid: number, ms: number | null): Promise<void> {
  // Before the old process exits: systemd ends a service when its main process exits.
  if (ms === null) tellMainProcess();
  note(
    ms === null
      ? `Asking process ${pid} to shut down; new requests wait.`
      : `The old process released the database after ${formatTime(ms / 1_000)}.`,
  );
}

// The old server keeps its metrics port until it ends.
async function tryAddress(
  { host, port }: Pick<ServeFlags, 'host' | 'port'>,
  reusePort = false,
): Promise<void> {
  await Bun.serve({ hostname: host, port, reusePort, fetch: () => new Response() }).stop(true);
}

function nextCommand(server: { url: string; isEmpty: boolean }, config: Config): string {
  const db = databaseFlag(config.db);
  if (server.isEmpty) return `crm init --org "My company"${db}   (in another terminal)`;
  const url = server.url === config.url ? '' : ` --url ${server.url}`;
  return `crm list contacts${url}   (with an API key in CRM_API_KEY; "crm keys issue" creates one)`;
}
