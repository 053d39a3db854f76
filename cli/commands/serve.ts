// `crm serve`: runs the server until a signal stops it.
import { type Command, Option } from 'commander';
import { addBackupFlags } from '../backup/serve-options.ts';
import type { ServeFlags } from '../serve/flags.ts';
import { resolveConfig } from '../settings/config.ts';
import { collect, count, port, upTo } from '../settings/options.ts';

const READERS_MAX = 64;
const CHANGES_DAYS_MAX = 365;
// Out of the 10 s that a shutdown may take.
const DRAIN_SECONDS_MAX = 8;

const EXAMPLES = `
Examples:
  crm serve
  crm serve --db /var/lib/crm/crm.db --backup-every 15m --backup-dir /backups
  crm serve --host 0.0.0.0 --port 8443 --tls-cert chain.pem --tls-key key.pem
  crm serve --takeover --background

See "crm help serve".`;

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
        'Format of the log on stderr (default: pretty on a terminal, otherwise json)',
      ).choices(['json', 'pretty', 'off']),
    )
    .option('--log-file <file>', 'Write the log to this file instead of stderr; SIGHUP reopens it');
  serve
    .option(
      '--changes-days <n>',
      'Days that this database keeps changes; 0 for none (default: as set before, initially 30)',
      upTo(CHANGES_DAYS_MAX),
    )
    .option(
      '--webhooks-allow <cidr>',
      'Private network that webhooks can be sent to, also over http; repeatable',
      collect,
    )
    .option('--audit-keep <duration>', 'How long to keep audit log entries, at least 30d (default: forever)')
    .option(
      '--takeover',
      'Take over from the server of the same file and port; requests wait, and none fails',
    )
    .option('--background', 'Run in the background; this command returns once the server is ready')
    .option('--no-backup', 'Skip the backup before an upgrade of the database file');
  addBackupFlags(serve);
  serve.addHelpText('after', EXAMPLES);
  serve.action(async (_options: unknown, command: Command) => {
    const { runServe } = await import('../serve/run.ts');
    await runServe(command.optsWithGlobals<ServeFlags>(), resolveConfig(command));
  });
}
