// Whether crm can work with a server: its version, its encoding, and for writing whether it is the primary.
import type { PostgresAddress } from './address.ts';
import type { Runner } from './clock-check.ts';
import { postgresError, readOnlyServerError } from './errors.ts';

const VERSION_MIN = 13;
const QUESTION = `
  select current_setting('server_version_num')::int / 10000 as version, current_setting('server_encoding') as encoding`;

/** @throws PostgresError if crm cannot read from the server or the database */
export async function checkServer(address: PostgresAddress, runner: Runner): Promise<void> {
  const [row] = await runner.run(QUESTION);
  const { version, encoding } = row ?? {};
  if (Number(version) < VERSION_MIN) {
    const reason = `runs on PostgreSQL ${version}, but crm needs ${VERSION_MIN} or newer`;
    throw postgresError(address, reason, ['upgrade the server, or use another one.']);
  }
  if (encoding === 'UTF8') return;
  const nextSteps = ['create one with UTF8: createdb -E UTF8 -T template0 NAME'];
  throw postgresError(address, `has the encoding ${encoding}, but crm needs UTF8`, nextSteps);
}

/**
 * Asks over a connection for writing.
 * @throws PostgresError if the database is read-only, as on a standby
 */
export async function assertWritable(address: PostgresAddress, runner: Runner): Promise<void> {
  const [row] = await runner.run(`select current_setting('transaction_read_only')::bool as only_reads`);
  if (row?.only_reads === true) throw readOnlyServerError(address);
}
