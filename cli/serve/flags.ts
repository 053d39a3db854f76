// The flags of `crm serve`, and checks of their values and combinations.

import { readFileSync } from 'node:fs';
import { isDatabaseAddress } from '../../db/database-address.ts';
import { type Network, parseNetwork } from '../../db/networks.ts';
import { AUDIT_KEPT_MS_MIN } from '../../db/tables/audit.ts';
import { LOOPBACK } from '../../server/pipeline/client-address.ts';
import type { ServeOptions } from '../../server/serve.ts';
import { isLoopback } from '../api/loopback.ts';
import type { ScheduleFlags } from '../backup/serve-options.ts';
import { errorCode, systemFault, usageError } from '../errors.ts';
import type { Config, GlobalOptions } from '../settings/config.ts';
import { durationMs, durationText } from '../settings/options.ts';

export interface ServeFlags extends GlobalOptions, ScheduleFlags {
  host: string;
  port: number;
  baseUrl?: string;
  tlsCert?: string;
  tlsKey?: string;
  behindProxy?: boolean;
  trustedProxy?: string[];
  keyLimit: number;
  orgLimit: number;
  orgBodyMib: number;
  bodyMib: number;
  readers: number;
  takeover?: boolean;
  background?: boolean;
  backup: boolean;
  drainSeconds?: number;
  metricsPort?: number;
  metricsHost?: string;
  log?: 'json' | 'pretty' | 'off';
  logFile?: string;
  auditKeep?: string;
  changesDays?: number;
  webhooksAllow?: string[];
}

/** How clients reach the server: over TLS, or through a proxy; and what it reaches itself. */
export type AccessOptions = Pick<ServeOptions, 'tls' | 'trustedProxies' | 'webhookNetworks'>;

/**
 * Checks the flags that decide how clients reach the server, and what it reaches itself.
 * @throws CliError with the usage code if they contradict each other
 */
export function checkFlags(flags: ServeFlags, config: Config): AccessOptions {
  if (flags.readers > 0) checkReaders(config);
  if (flags.takeover) checkTakeover(config);
  const tls = tlsFiles(flags);
  checkExposure(flags);
  checkMetrics(flags);
  if (flags.baseUrl !== undefined) checkBaseUrl(flags.baseUrl);
  return { tls, trustedProxies: proxyNetworks(flags), webhookNetworks: webhookNetworks(flags) };
}

function checkReaders({ db }: Config): void {
  if (!isDatabaseAddress(db)) return;
  throw usageError(
    '--readers works with a database file only.',
    'with PostgreSQL, run one "crm serve" per core.',
  );
}

function checkTakeover({ db }: Config): void {
  if (!isDatabaseAddress(db)) return;
  throw usageError(
    '--takeover works with a database file only.',
    'with PostgreSQL, start the new node on another port, then stop the old one: a proxy sends requests to nodes that are ready.',
  );
}

function tlsFiles({ tlsCert, tlsKey }: ServeFlags): ServeOptions['tls'] {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw usageError('--tls-cert and --tls-key must be used together.', 'set both.');
  }
  for (const file of [tlsCert, tlsKey]) checkReadable(file);
  return { certFile: tlsCert, keyFile: tlsKey };
}

function checkReadable(file: string): void {
  try {
    readFileSync(file);
  } catch (error) {
    const isMissing = errorCode(error) === 'ENOENT';
    const fault = isMissing ? `File not found: ${file}` : `Cannot read ${file} (${systemFault(error)}).`;
    throw usageError(fault, 'check --tls-cert and --tls-key, and that this user can read both files.');
  }
}

function proxyNetworks({ behindProxy, trustedProxy }: ServeFlags): ServeOptions['trustedProxies'] {
  if (!behindProxy) {
    if (trustedProxy === undefined) return undefined;
    throw usageError(
      '--trusted-proxy requires --behind-proxy.',
      'add --behind-proxy, or remove --trusted-proxy.',
    );
  }
  if (trustedProxy === undefined) return LOOPBACK;
  return trustedProxy.map((text) => networkOf('--trusted-proxy', text));
}

function webhookNetworks({ webhooksAllow }: ServeFlags): ServeOptions['webhookNetworks'] {
  return webhooksAllow?.map((text) => networkOf('--webhooks-allow', text));
}

function networkOf(flag: string, text: string): Network {
  const network = parseNetwork(text);
  if (network !== undefined) return network;
  throw usageError(
    `${flag} "${text}" is not a valid network.`,
    'use a network like 10.0.0.0/8, or an IP address.',
  );
}

function checkExposure(flags: ServeFlags): void {
  if (isLoopback(flags.host) || flags.tlsCert !== undefined || flags.behindProxy) return;
  throw usageError(
    `${flags.host} is reachable from other machines, and API keys would cross the network unencrypted.`,
    'add --tls-cert FILE --tls-key FILE to serve HTTPS.',
    'or add --behind-proxy if a proxy in front terminates TLS.',
    'or remove --host to serve this machine only.',
  );
}

const METRICS_HOST = '127.0.0.1';

/** Where to serve metrics, by default on this machine only; null without --metrics-port. */
export function metricsAddress(flags: ServeFlags): { host: string; port: number } | null {
  const { metricsHost: host = METRICS_HOST, metricsPort: port } = flags;
  return port === undefined ? null : { host, port };
}

function checkMetrics({ port, metricsPort, metricsHost }: ServeFlags): void {
  if (metricsPort === undefined && metricsHost !== undefined)
    throw usageError(
      '--metrics-host requires --metrics-port.',
      'add --metrics-port, or remove --metrics-host.',
    );
  if (metricsPort === undefined || metricsPort === 0 || metricsPort !== port) return;
  throw usageError(
    `--metrics-port ${metricsPort} is the port of the API.`,
    'choose another port, such as 9464: metrics need no API key, so they must use a separate port.',
  );
}

function checkBaseUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && ['http:', 'https:'].includes(url.protocol) && !url.search && !url.hash) return;
  throw usageError(`--base-url "${text}" is not a valid URL.`, 'use a URL like https://crm.example.com.');
}

/**
 * How long to keep audit log entries, in milliseconds; undefined means forever.
 * @throws CliError with the usage code if it is not a duration, or less than the database allows
 */
export function auditKeepMs({ auditKeep }: ServeFlags): number | undefined {
  if (auditKeep === undefined) return undefined;
  const keepMs = durationMs(auditKeep);
  if (keepMs !== undefined && keepMs >= AUDIT_KEPT_MS_MIN) return keepMs;
  throw usageError(
    `"${auditKeep}" is not a valid value of --audit-keep.`,
    `use ${durationText(AUDIT_KEPT_MS_MIN)} or more, like 365d. Without --audit-keep, entries are kept forever.`,
  );
}
