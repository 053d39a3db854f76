// Facts about a PostgreSQL database, apart from its content.
import { appliedMigrations } from '../engine/applied-migrations.ts';
import { MIGRATIONS } from '../migrations/index.ts';
import { parseAddress } from './address.ts';
import { clockError } from './clock-check.ts';
import { unknownTables } from './planner-statistics.ts';
import { openPostgresConnection } from './snapshot.ts';

export interface ServerFacts {
  /** For example `15.18`. */
  version: string;
  bytes: number;
  /** Open connections on the server, and their maximum. */
  connections: number;
  connectionsMax: number;
  /** Why this machine must not serve because of its clock; null if the clock is fine. */
  clockTrouble: string | null;
  /** Tables with more than a page of rows and without statistics. */
  unanalyzed: string[];
  /** Migrations that have run, and those that the next start will run. */
  migrations: number;
  isBehind: boolean;
}

const QUESTION = `
  select split_part(current_setting('server_version'), ' ', 1) as version, pg_database_size(current_database()) as bytes,
    (select count(*) from pg_stat_activity where backend_type = 'client backend') as connections,
    current_setting('max_connections') as connections_max`;

/**
 * Examines a database.
 * @throws DatabaseAddressError if the URL is not valid; PostgresError if the database cannot be used
 */
export async function examineServer(text: string): Promise<ServerFacts> {
  const connection = await openPostgresConnection(text);
  try {
    const [row] = await connection.run(QUESTION);
    const migrations = (await appliedMigrations(connection.db)).length;
    const trouble = await clockError(parseAddress(text), connection);
    return {
      version: String(row?.version),
      bytes: Number(row?.bytes),
      connections: Number(row?.connections),
      connectionsMax: Number(row?.connections_max),
      clockTrouble: trouble?.message ?? null,
      unanalyzed: await unknownTables(connection),
      migrations,
      isBehind: migrations < Object.keys(MIGRATIONS).length,
    };
  } finally {
    await connection.close();
  }
}
