// Whether a server is one that crm can work with: new enough, the primary, and its text in UTF-8.
import type { PostgresAddress } from './address.ts';
import type { Runner } from './clock.ts';
import { told } from './errors.ts';

const VERSION_MIN = 13;
const QUESTION = `
  select current_setting('server_version_num')::int / 10000 as version, current_setting('server_encoding') as encoding,
    pg_is_in_recovery() as is_standby`;

/** @throws PostgresError if crm cannot work with the server or the database */
export async function checkServer(address: PostgresAddress, runner: Runner): Promise<void> {
  const [row] = await runner.run(QUESTION);
  const { version, encoding, is_standby: isStandby } = row ?? {};
  if (Number(version) < VERSION_MIN) {
    const reason = `is on PostgreSQL ${version}, and crm needs ${VERSION_MIN} or newer`;
    throw told(address, reason, ['upgrade the server, or use another.']);
  }
  if (encoding !== 'UTF8') {
    const nextSteps = [`make one that has: createdb -E UTF8 -T template0 NAME`];
    throw told(address, `keeps its text in ${encoding}, and crm needs UTF8`, nextSteps);
  }
  if (isStandby === true) {
    throw told(address, 'is on a standby, which only reads', ['name the primary server in the address.']);
  }
}
