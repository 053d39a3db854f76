// Explains why `crm serve` could not start, and how to fix it.
import { MetricsAddressError } from '../../server/metrics/measurement.ts';

import { databaseError } from '../database/database.ts';
import { CliError, errorCode } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { redact } from '../terminal/redact.ts';
import { shellWord } from '../terminal/text.ts';
import { metricsAddress, type ServeFlags } from './flags.ts';

/** Where to listen, and the flags that set it. */
interface ListeningAt {
  host: string;
  port: number;
  flags: { host: string; port: string };
}

// Why the server cannot listen there; null if the error has another cause.
function addressError({ host, port, flags }: ListeningAt, error: unknown): CliError | null {
  const endpoint = `${host}:${port}`;
  const code = errorCode(error);
  if (code === 'EADDRINUSE') {
    const free = port === 65_535 ? 0 : port + 1;
    const nextSteps = [
      `stop the program that uses the port, or choose another: ${sameWith(flags.port, free)}`,
    ];
    return new CliError(`${endpoint} is already in use.`, { nextSteps, cause: error });
  }
  if (code === 'EACCES') {
    const nextSteps = [
      'choose a port above 1023, or give crm permission to use this one (CAP_NET_BIND_SERVICE).',
    ];
    return new CliError(`Permission denied: cannot listen on ${endpoint}.`, { nextSteps, cause: error });
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    const nextSteps = [`set ${flags.host} to an IP address of this machine.`];
    return new CliError(`${host} is not an IP address or name of this machine.`, { nextSteps, cause: error });
  }
  return null;
}

// The command as typed, with another value for this flag and without a password.
function sameWith(flag: string, value: number): string {
  const words = process.argv.slice(2);
  const at = words.findIndex((word) => word === flag || word.startsWith(`${flag}=`));
  if (at < 0) words.push(flag, String(value));
  else words.splice(at, words[at] === flag ? 2 : 1, flag, String(value));
  return `crm ${words.map((word) => shellWord(redact(word))).join(' ')}`;
}

/** Why the metrics port could not open, as an error for people. */
export function metricsError(options: ServeFlags, error: unknown): unknown {
  const at = metricsAddress(options);
  const flags = { host: '--metrics-host', port: '--metrics-port' };
  return (at && addressError({ ...at, flags }, error)) ?? error;
}

/** Why the server could not start, as an error for people. */
export function serveError(options: ServeFlags, config: Config, error: unknown): unknown {
  if (error instanceof CliError) return error;
  if (error instanceof MetricsAddressError) return metricsError(options, error.cause);
  const flags = { host: '--host', port: '--port' };
  const wrongAddress = addressError({ ...options, flags }, error);
  if (wrongAddress !== null) return wrongAddress;
  if (/^ERR_(?:OSSL|SSL|BORINGSSL)/.test(errorCode(error))) {
    const nextSteps = ['check that both are PEM files and that the key belongs to the certificate.'];
    return new CliError('The certificate or its key is not valid.', { nextSteps, cause: error });
  }
  return databaseError(config.db, error);
}
