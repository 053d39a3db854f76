// Other crm processes on a database: nodes that serve it, and commands.
import { withConnection } from './connect.ts';
import type { PostgresConnection } from './connection.ts';
import { SETTINGS } from './settings.ts';

// A node asks for the time every minute; sessions that are silent for longer are kept by a pooler.
const USERS = `
  select distinct coalesce(host(client_addr), 'this machine') as host from pg_stat_activity
  where datname = current_database() and application_name = $1 and pid <> pg_backend_pid()
    and (state <> 'idle' or state_change > now() - interval '90 seconds')
  order by host`;
// By then the server has closed the session of a command that ended before.
const LINGER_MS_MAX = 1_000;
const LOOK_EVERY_MS = 50;

/**
 * The hosts from which other crm processes use a database; this process is not connected yet.
 * @throws DatabaseAddressError if the URL is not valid; PostgresError if the database cannot be used
 */
export function findCrmConnections(text: string): Promise<string[]> {
  return withConnection(text, 'migrating', async (connection) => {
    const endsAt = performance.now() + LINGER_MS_MAX;
    for (;;) {
      const hosts = await hostsOf(connection);
      if (hosts.length === 0 || performance.now() > endsAt) return hosts;
      await Bun.sleep(LOOK_EVERY_MS);
    }
  });
}

async function hostsOf(connection: PostgresConnection): Promise<string[]> {
  const rows = await connection.run(USERS, [SETTINGS.migrating.application_name]);
  return rows.map(({ host }) => String(host));
}

/** Lets the server analyze the tables, because it plans with the statistics; throws as `findCrmConnections`. */
export async function analyzeTables(text: string): Promise<void> {
  await withConnection(text, 'migrating', (connection) => connection.run('analyze'));
}
