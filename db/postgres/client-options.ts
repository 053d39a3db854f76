// The options of Bun's client for a database: complete, so that it takes nothing from the environment by itself.
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { SQL } from 'bun';
import { DatabaseAddressError } from '../database-error.ts';
import type { PostgresAddress } from './address.ts';
import { CONNECT_SECONDS_MAX, type ConnectionPurpose, SETTINGS } from './settings.ts';

/**
 * The options of a client.
 * @throws DatabaseAddressError if the file in sslrootcert cannot be read
 */
export function clientOptions(
  address: PostgresAddress,
  purpose: ConnectionPurpose,
): SQL.PostgresOrMySQLOptions {
  const { host, port, user, database, password, channelBinding } = address;
  const { mode, ca } = trustOf(address);
  return {
    // The client reads the mode only from a URL, and without a URL it would use DATABASE_URL.
    url: `postgres://localhost/?sslmode=${mode}`,
    ...{ hostname: host, port, username: user, database, password: password ?? '' },
    ...(ca !== null && { tls: { ca } }),
    channelBinding,
    connectionTimeout: CONNECT_SECONDS_MAX,
    connection: SETTINGS[purpose],
  };
}

// As with libpq: a given certificate is checked whenever TLS is used, and there is a default location for it.
function trustOf({ sslMode, sslRootCert }: PostgresAddress): { mode: string; ca: string | null } {
  if (sslMode === 'require' && sslRootCert !== null)
    return { mode: 'verify-ca', ca: readCertificates(sslRootCert) };
  if (!sslMode.startsWith('verify') || sslRootCert === 'system') return { mode: sslMode, ca: null };
  const file = sslRootCert ?? usualFile();
  return { mode: sslMode, ca: file === null ? null : readCertificates(file) };
}

function usualFile(): string | null {
  const file = join(process.env.HOME || homedir(), '.postgresql', 'root.crt');
  return existsSync(file) ? file : null;
}

function readCertificates(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    throw new DatabaseAddressError(`The sslrootcert file ${file} cannot be read${code}.`, [
      'specify a PEM file with the CA certificates of your servers.',
    ]);
  }
}
