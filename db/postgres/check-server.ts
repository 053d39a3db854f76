// Whether a server is one that crm can work with: new enough, its text in UTF-8, and where it is written to the primary.
import type { PostgresAddress } from './address.ts';
import type { Runner } from './clock-check.ts';
import { onlyReading, told } from './errors.ts';

const VERSION_MIN = 13;
const QUESTION = `
  select current_setting('server_version_num')::int / 10000 as version, current_setting('server_encoding') as encoding`;

/** @throws PostgresError if crm cannot read from the server or the database */
export async function checkServer(address: PostgresAddress, runner: Runner): Promise<void> {
  const [row] = await runner.run(QUESTION);
  const { version, encoding } = row ?? {};
  if (Number(version) < VERSION_MIN) {
    const reason = `is on PostgreSQL ${version}, and crm needs ${VERSION_MIN} or newer`;
    throw told(address, reason, ['upgrade the server, or use another.']);
  }
  if (encoding === 'UTF8') return;
  const nextSteps = ['make one that has: createdb -E UTF8 -T template0 NAME'];
  throw told(address, `keeps its text in ${encoding}, and crm needs UTF8`, nextSteps);
}

/**
 * Asks over a connection that may write.
 * @throws PostgresError if the database takes no writes, as a standby does not
 */
export async function assertWritable(address: PostgresAddress, runner: Runner): Promise<void> {
  const [row] = await runner.run(`select current_setting('transaction_read_only')::bool as only_reads`);
  if (row?.only_reads === true) throw onlyReading(address);
}
