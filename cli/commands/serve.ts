// `crm serve`: runs the server until it is told to stop.
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
// Of the ten that a stop may take.
const DRAIN_SECONDS_MAX = 8;

/** Adds `crm serve`. */
export function registerServeCommand(program: Command): void {
  const serve = program
    .command('serve')
    .summary('run the server')
    .description(
      'Serve the database over HTTP until SIGTERM or Ctrl-C; SIGHUP reads the certificate anew and opens the log file anew. A missing file is made, ' +
        'and an empty database gets its tables. Any number may serve one database of PostgreSQL.',
    )
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on; 0 takes a free one', port, 4000)
    .option('--base-url <url>', 'address that clients use, where it is another')
    .option('--tls-cert <file>', 'certificate chain, PEM')
    .option('--tls-key <file>', 'private key, PEM')
    .addOption(new Option('--behind-proxy', 'a proxy in front ends TLS').conflicts(['tlsCert', 'tlsKey']))
    .option(
      '--trusted-proxy <cidr>',
      'network of the proxy, whose X-Forwarded-For counts; repeatable (default: this machine)',
      collect,
    )
    .option('--key-limit <n>', 'requests a minute for each key', count, 200)
    .option('--org-limit <n>', 'requests a minute for each organization', count, 1000)
    .option(
      '--org-body-mib <n>',
      'MiB of request bodies under way for each organization, and as much of answers',
      count,
      64,
    )
    .option('--body-mib <n>', 'MiB of request bodies under way for all, and as much of answers', count, 256)
    .option(
      '--readers <n>',
      'threads that answer requests, for a file: one for each core',
      upTo(READERS_MAX),
      0,
    )
    .option(
      '--drain-seconds <n>',
      'how long to go on, not ready, after SIGTERM (default: while requests come, 2 at most)',
      upTo(DRAIN_SECONDS_MAX),
    )
    .option(
      '--metrics-port <port>',
      'answer GET /metrics, for Prometheus, on this port; 0 takes a free one',
      port,
    )
    .option('--metrics-host <host>', 'address for that, where it is not this machine only (127.0.0.1)')
    .addOption(
      new Option('--log <form>', 'logs on stderr (default: pretty on a terminal, else json)').choices([
        'json',
        'pretty',
        'off',
      ]),
    )
    .option('--log-file <file>', 'where the log goes in place of stderr, opened anew at SIGHUP');
  serve
    .option(
      '--audit-keep <duration>',
      'how long entries of the audit log are kept, 30d at least (default: for ever)',
    )
    .option(
      '--takeover',
      'take over from the server of the same file and port; requests wait meanwhile, and none fails',
    )
    .option('--background', 'go on in the background, and end this command once that serves')
    .option('--no-backup', 'no backup before an older file is brought up to date');
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
      'Whoever lists the processes of this machine sees the password in --db: keep it in CRM_DB, PGPASSWORD or ~/.pgpass.',
    );
  }
  if (options.behindProxy && options.baseUrl === undefined) {
    note('Links in answers will begin with that address: say with --base-url where clients reach the proxy.');
  }
  if (options.behindProxy && options.trustedProxy === undefined && !isLoopback(options.host)) {
    note('X-Forwarded-For counts from this machine only: name a proxy elsewhere with --trusted-proxy CIDR.');
  }
  if (options.metricsHost !== undefined && !isLoopback(options.metricsHost)) {
    note(
      'Whoever reaches that address can read the metrics: they need no key, and cross the network unencrypted.',
    );
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
  server.tell('Handing over: open requests are being finished, and what still comes is passed on.');
  await Promise.all([backups?.stop(), server.handOver(stop.first)]);
}

async function end(
  server: RunningServer,
  stop: StopRequest,
  { options, backups }: { options: ServeFlags; backups: BackupSchedule | null },
): Promise<void> {
  server.tell('Stopping: open requests are being finished.');
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
  // Where the address is taken, no empty database is to be left behind.
  const isNew = !isDatabaseAddress(config.db) && !existsSync(config.db);
  if (isNew) await tryAddress(options);
  const metrics = metricsAddress(options);
  // Nor is a server to be ended by one that cannot take its place.
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
  // Before the former one ends: the end of a service's main process is the end of the service.
  if (ms === null) await tellMainProcess();
  note(
    ms === null
      ? `Process ${pid} is told to finish; requests that come wait here.`
      : `It has given the database up, after ${formatTime(ms / 1_000)}.`,
  );
}

// The metrics of a server that is taken over are told until it ends.
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
  return `crm list contacts${url}   (with a key in CRM_API_KEY; "crm keys issue" makes one)`;
}
