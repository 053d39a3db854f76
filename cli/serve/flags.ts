// What `crm serve` is told, and whether it can be meant.
import { readFileSync } from 'node:fs';
import { isDatabaseAddress } from '../../db/database-address.ts';
import { parseNetwork } from '../../db/networks.ts';
import type { ServeOptions } from '../../server/serve.ts';
import { isLoopback } from '../api/loopback.ts';
import type { BackupFlags } from '../backup/serve-options.ts';
import { errorCode, systemFault, usageError } from '../errors.ts';
import type { Config, GlobalOptions } from '../settings/config.ts';
import { durationMs, durationText } from '../settings/options.ts';

export interface ServeFlags extends GlobalOptions, BackupFlags {
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
}

/** Who is let in, and how: over TLS, or by a proxy. */
export type AccessOptions = Pick<ServeOptions, 'tls' | 'trustedProxies'>;

/**
 * What the flags say of who is let in.
 * @throws CliError with the usage code if they cannot be meant
 */
export async function checkFlags(flags: ServeFlags, config: Config): Promise<AccessOptions> {
  if (flags.readers > 0) checkReaders(config);
  if (flags.takeover) checkTakeover(config);
  const tls = tlsFiles(flags);
  checkExposure(flags);
  checkMetrics(flags);
  if (flags.baseUrl !== undefined) checkBaseUrl(flags.baseUrl);
  return { tls, trustedProxies: await proxyNetworks(flags) };
}

function checkReaders({ db }: Config): void {
  if (!isDatabaseAddress(db)) return;
  throw usageError(
    '--readers is for a database file.',
    'run several "crm serve" on the database of PostgreSQL, one for each core.',
  );
}

function checkTakeover({ db }: Config): void {
  if (!isDatabaseAddress(db)) return;
  throw usageError(
    '--takeover is for a database file.',
    'on PostgreSQL start the new node beside the old one, at another port, then stop that: a proxy sends requests to whichever is ready.',
  );
}

function tlsFiles({ tlsCert, tlsKey }: ServeFlags): ServeOptions['tls'] {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw usageError('--tls-cert and --tls-key go together.', 'give both files.');
  }
  for (const file of [tlsCert, tlsKey]) checkReadable(file);
  return { certFile: tlsCert, keyFile: tlsKey };
}

function checkReadable(file: string): void {
  try {
    readFileSync(file);
  } catch (error) {
    const isMissing = errorCode(error) === 'ENOENT';
    const fault = isMissing ? `There is no file ${file}.` : `${file} cannot be read (${systemFault(error)}).`;
    throw usageError(fault, 'check --tls-cert and --tls-key, and that this user may read both.');
  }
}

async function proxyNetworks({
  behindProxy,
  trustedProxy,
}: ServeFlags): Promise<ServeOptions['trustedProxies']> {
  if (!behindProxy) {
    if (trustedProxy === undefined) return undefined;
    throw usageError('--trusted-proxy goes with --behind-proxy.', 'give both, or neither.');
  }
  const { LOOPBACK } = await import('../../server/pipeline/client-address.ts');
  if (trustedProxy === undefined) return LOOPBACK;
  return trustedProxy.map((text) => {
    const network = parseNetwork(text);
    if (network !== undefined) return network;
    throw usageError(`--trusted-proxy "${text}" is no network.`, 'give one like 10.0.0.0/8, or an address.');
  });
}

function checkExposure(flags: ServeFlags): void {
  if (isLoopback(flags.host) || flags.tlsCert !== undefined || flags.behindProxy) return;
  throw usageError(
    `${flags.host} can be reached from other machines, and keys would cross the network unencrypted.`,
    'add --tls-cert FILE --tls-key FILE to serve HTTPS,',
    'or --behind-proxy if a proxy in front of it ends TLS,',
    'or leave --host out to serve this machine only.',
  );
}

const METRICS_HOST = '127.0.0.1';

/** Where metrics are to be told: on this machine only unless said; null where they are not. */
export function metricsAddress(flags: ServeFlags): { host: string; port: number } | null {
  const { metricsHost: host = METRICS_HOST, metricsPort: port } = flags;
  return port === undefined ? null : { host, port };
}

function checkMetrics({ port, metricsPort, metricsHost }: ServeFlags): void {
  if (metricsPort === undefined && metricsHost !== undefined)
    throw usageError('--metrics-host goes with --metrics-port.', 'give both, or neither.');
  if (metricsPort === undefined || metricsPort === 0 || metricsPort !== port) return;
  throw usageError(
    `--metrics-port ${metricsPort} is the port of the interface.`,
    'choose another, such as 9464: metrics need no key, and so a port of their own.',
  );
}

function checkBaseUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && ['http:', 'https:'].includes(url.protocol) && !url.search && !url.hash) return;
  throw usageError(`--base-url "${text}" is no address.`, 'give one like https://crm.example.com.');
}

/**
 * How long the audit log is to be kept, in milliseconds; undefined for ever.
 * @throws CliError with the usage code if that is no duration, or less than the database allows
 */
export async function auditKeepMs({ auditKeep }: ServeFlags): Promise<number | undefined> {
  if (auditKeep === undefined) return undefined;
  const { AUDIT_KEPT_MS_MIN } = await import('../../db/tables/audit.ts');
  const keepMs = durationMs(auditKeep);
  if (keepMs !== undefined && keepMs >= AUDIT_KEPT_MS_MIN) return keepMs;
  throw usageError(
    `"${auditKeep}" is no time to keep the audit log for.`,
    `give ${durationText(AUDIT_KEPT_MS_MIN)} or more, like 365d; without --audit-keep it is kept for ever.`,
  );
}
