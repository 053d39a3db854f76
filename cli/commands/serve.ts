// `crm serve`: runs the server until a signal stops it.
import { existsSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { isDatabaseAddress } from '../../db/database-address.ts';
import type { RunningServer, ServeOptions } from '../../server/serve.ts';
import { isLoopback } from '../api/loopback.ts';
import { BackupSchedule } from '../backup/schedule.ts';
import { addBackupFlags, backupPlan } from '../backup/serve-options.ts';
import { databaseError, databaseFlag } from '../database/database.ts';
import { serveInBackground, tellStarter } from '../serve/background.ts';
import { metricsError, serveError } from '../serve/errors.ts';
import { openLog, reopenFiles } from '../serve/files.ts';
import { auditKeepMs, checkFlags, metricsAddress, type ServeFlags } from '../serve/flags.ts';
import { tellMainProcess, tellReady } from '../serve/service-manager.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { collect, count, port, upTo } from '../settings/options.ts';
import { formatTime } from '../terminal/format.ts';
import { onHangUp, type StopRequest, stopRequested } from '../terminal/interrupt.ts';
import { note } from '../terminal/streams.ts';
import { COMMIT, VERSION } from '../version.ts';

const MEBIBYTE = 1024 * 1024;
const READERS_MAX = 64;
// Out of the 10 s that a shutdown may take.
const DRAIN_SECONDS_MAX = 8;

/** Adds `crm serve`. */
export function registerServeCommand(program: Command): void {
  const serve = program
    .command('serve')
    .summary('Run the server')
    .description(
      'Serve the database over HTTP until SIGTERM or Ctrl-C. SIGHUP reloads the certificate and reopens the log file. A missing database file is ' +
        'created, and an empty database gets its tables. Several servers can share one PostgreSQL database.',
    )
    .option('--host <host>', 'IP address or name to listen on', '127.0.0.1')
    .option('--port <port>', 'Port to listen on; 0 picks a free port', port, 4000)
    .option('--base-url <url>', 'Server URL that clients use, if it differs')
    .option('--tls-cert <file>', 'TLS certificate chain, PEM')
    .option('--tls-key <file>', 'TLS private key, PEM')
    .addOption(new Option('--behind-proxy', 'A proxy terminates TLS').conflicts(['tlsCert', 'tlsKey']))
    .option(
      '--trusted-proxy <cidr>',
      'Network of proxies whose X-Forwarded-For is trusted; repeatable (default: this machine)',
      collect,
    )
    .option('--key-limit <n>', 'Requests per minute for each API key', count, 200)
    .option('--org-limit <n>', 'Requests per minute for each organization', count, 1000)
    .option(
      '--org-body-mib <n>',
      'MiB of request bodies in flight for each organization, same for responses',
      count,
      64,
    )
    .option('--body-mib <n>', 'MiB of request bodies in flight in total, same for responses', count, 256)
    .option(
      '--readers <n>',
      'Threads that answer requests, for a database file; use one per core',
      upTo(READERS_MAX),
      0,
    )
    .option(
      '--drain-seconds <n>',
      'How long to keep serving, but not ready, after SIGTERM (default: while requests arrive, at most 2)',
      upTo(DRAIN_SECONDS_MAX),
    )
    .option(
      '--metrics-port <port>',
      'Serve GET /metrics for Prometheus on this port; 0 picks a free port',
      port,
    )
    .option('--metrics-host <host>', 'IP address or name for metrics (default: 127.0.0.1, this machine only)')
    .addOption(
      new Option(
        '--log <form>',
        'Format of the log on stderr (default: pretty on a terminal, else json)',
      ).choices(['json', 'pretty', 'off']),
    )
    .option('--log-file <file>', 'Write the log to this file instead of stderr; SIGHUP reopens it');
  serve
    .option('--audit-keep <duration>', 'How long to keep audit log entries, at least 30d (default: forever)')
    .option(
      '--takeover',
      'Take over from the server of the same file and port; requests wait, and none fails',
    )
    .option('--background', 'Run in the background; this command returns once the server is ready')
    .option('--no-backup', 'Skip the backup before an upgrade of the database file');
  addBackupFlags(serve);
  serve.action((_options: unknown, command: Command) =>
    runServe(command.optsWithGlobals<ServeFlags>(), resolveConfig(command)),
  );
}

async function runServe(options: ServeFlags, config: Config): Promise<void> {
  const door = await checkFlags(options, config);
  const keepMs = await auditKeepMs(options);
  const plan = backupPlan(options, config.db);
  if (options.background) return serveInBackground();
  const backups = plan && new BackupSchedule(plan);
  const logFile = await openLog(options);
  const files = { ...door, ...(logFile && { logFile }) };
  const stop = stopRequested();
  const given = {
    ...files,
    handsOver: stop.hearsHandOver,
    ...(keepMs !== undefined && { auditKeepMs: keepMs }),
  };
  const starting = start(options, config, given, backups);
  onHangUp(() =>
    starting.then(
      (server) => reopenFiles(server, files),
      () => undefined,
    ),
  );
  const server = await starting.catch(async (error: unknown) => {
    throw await serveError(options, config, error);
  });
  const { hasPassword, databaseLabel } = await import('../../db/store.ts');
  note(
    [
      `crm ${VERSION} serves ${databaseLabel(config.db)}${server.url === server.listensOn ? '' : ` on ${server.listensOn}`}`,
      `API   ${server.url}/api/v2  and  ${server.url}/api/v1`,
      ...(server.metricsUrl === null ? [] : [`Metrics ${server.metricsUrl}`]),
      `Docs  ${server.docsUrl}`,
      `Next: ${await nextCommand(server, config)}`,
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
  await tellReady();
  tellStarter();
  const isTakenOver = await Promise.race([stop.first.then(() => false), stop.handOver.then(() => true)]);
  try {
    if (isTakenOver) await handOver(server, stop, backups);
    else await end(server, stop, { options, backups });
  } catch (error) {
    throw await databaseError(config.db, error);
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
  const { startServer } = await import('../../server/serve.ts');
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
  const { assertCanMigrate, backUpBeforeMigrations } = await import('../database/migration-backup.ts');
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
    log: options.log ?? (process.stderr.isTTY ? 'pretty' : 'json'),
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
  if (ms === null) await tellMainProcess();
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

async function nextCommand(server: { url: string; isEmpty: boolean }, config: Config): Promise<string> {
  const db = await databaseFlag(config.db);
  if (server.isEmpty) return `crm init --org "My company"${db}   (in another terminal)`;
  const url = server.url === config.url ? '' : ` --url ${server.url}`;
  return `crm list contacts${url}   (with an API key in CRM_API_KEY; "crm keys issue" creates one)`;
}
