// What there is to be known about a database of PostgreSQL beside what it holds.
import { migrationsOf } from '../engine/applied-migrations.ts';
import { MIGRATIONS } from '../migrations/index.ts';
import { parseAddress } from './address.ts';
import { clockTrouble } from './clock-check.ts';
import { unknownTables } from './planner-statistics.ts';
import { openPostgresConnection } from './snapshot.ts';

export interface ServerFacts {
  /** Such as `15.18`. */
  version: string;
  bytes: number;
  /** Those open on the server, and how many it takes. */
  connections: number;
  connectionsMax: number;
  /** Why this machine's clock must not serve; null where it agrees. */
  clockTrouble: string | null;
  /** Tables with more than a page of rows, and no statistics. */
  unanalyzed: string[];
  /** Migrations that have run, and those that are still to come; the next start makes them. */
  migrations: number;
  isBehind: boolean;
}

const QUESTION = `
  select split_part(current_setting('server_version'), ' ', 1) as version, pg_database_size(current_database()) as bytes,
    (select count(*) from pg_stat_activity where backend_type = 'client backend') as connections,
    current_setting('max_connections') as connections_max`;

/**
 * Looks at a database.
 * @throws DatabaseAddressError if the address is none; PostgresError if the database cannot be used
 */
export async function examineServer(text: string): Promise<ServerFacts> {
  const connection = await openPostgresConnection(text);
  try {
    const [row] = await connection.run(QUESTION);
    const migrations = (await migrationsOf(connection.db)).length;
    const trouble = await clockTrouble(parseAddress(text), connection);
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
