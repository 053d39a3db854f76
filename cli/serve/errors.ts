// What keeps `crm serve` from its start, in words and with the way out.

import { databaseError } from '../database/database.ts';
import { CliError, errorCode } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { redact } from '../terminal/redact.ts';
import { shellWord } from '../terminal/text.ts';
import { metricsAddress, type ServeFlags } from './flags.ts';

/** Where something was to listen, and the flags that say so. */
interface ListeningAt {
  host: string;
  port: number;
  flags: { host: string; port: string };
}

// What is wrong with an address; null where the error is of something else.
function addressError({ host, port, flags }: ListeningAt, error: unknown): CliError | null {
  const address = `${host}:${port}`;
  const code = errorCode(error);
  if (code === 'EADDRINUSE') {
    const free = port === 65_535 ? 0 : port + 1;
    const nextSteps = [`stop the program that has it, or choose another: ${sameWith(flags.port, free)}`];
    return new CliError(`The address ${address} is in use.`, { nextSteps, cause: error });
  }
  if (code === 'EACCES') {
    const nextSteps = ['choose a port above 1023, or allow the program to take this one.'];
    return new CliError(`The address ${address} may not be taken.`, { nextSteps, cause: error });
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    const nextSteps = [`choose an address of this machine in ${flags.host}.`];
    return new CliError(`${host} is not an address of this machine.`, { nextSteps, cause: error });
  }
  return null;
}

// The command as it was typed, with another value for that flag and no password.
function sameWith(flag: string, value: number): string {
  const words = process.argv.slice(2);
  const at = words.findIndex((word) => word === flag || word.startsWith(`${flag}=`));
  if (at < 0) words.push(flag, String(value));
  else words.splice(at, words[at] === flag ? 2 : 1, flag, String(value));
  return `crm ${words.map((word) => shellWord(redact(word))).join(' ')}`;
}

/** What is wrong with the address of metrics. */
export function metricsError(options: ServeFlags, error: unknown): unknown {
  const at = metricsAddress(options);
  const flags = { host: '--metrics-host', port: '--metrics-port' };
  return (at && addressError({ ...at, flags }, error)) ?? error;
}

/** What kept a server from its start, as an error for people. */
export async function serveError(options: ServeFlags, config: Config, error: unknown): Promise<unknown> {
  if (error instanceof CliError) return error;
  const { MetricsAddressError } = await import('../../server/metrics/measurement.ts');
  if (error instanceof MetricsAddressError) return metricsError(options, error.cause);
  const flags = { host: '--host', port: '--port' };
  const wrongAddress = addressError({ ...options, flags }, error);
  if (wrongAddress !== null) return wrongAddress;
  if (/^ERR_(?:OSSL|SSL|BORINGSSL)/.test(errorCode(error))) {
    const nextSteps = ['check that both are PEM files that belong together.'];
    return new CliError('The certificate or its key cannot be used.', { nextSteps, cause: error });
  }
  return databaseError(config.db, error);
}
