// A PostgreSQL database at one moment.
import { sql } from 'kysely';
import type { DatabaseSnapshot } from '../engine/snapshot.ts';
import { checkServer } from './check-server.ts';
import { connectTo } from './connect.ts';
import type { PostgresConnection } from './connection.ts';
import { explainStatement } from './errors.ts';

/**
 * Opens a database for reading.
 * @throws DatabaseAddressError if the URL is not valid; PostgresError if the database cannot be used
 */
export async function openPostgresSnapshot(
  text: string,
  onWarning?: (warning: string) => void,
): Promise<DatabaseSnapshot> {
  const connection = await openPostgresConnection(text, onWarning);
  return { read: connection.db, close: () => connection.close() };
}

/** The connection of such a snapshot; throws the same errors. */
export async function openPostgresConnection(
  text: string,
  onWarning?: (warning: string) => void,
): Promise<PostgresConnection> {
  const { address, connection } = connectTo(text, 'copying', onWarning);
  try {
    await checkServer(address, connection);
    await connection.begin();
    await connection.run('set transaction isolation level repeatable read');
    return connection;
  } catch (error) {
    await connection.close();
    throw explainStatement(address, error);
  }
}

// The start time of the server identifies it, whatever name and port it is reached by.
const IDENTITY = `
  select concat_ws('/', pg_postmaster_start_time(), oid) as identity from pg_database where datname = current_database()`;

/** Identifies the database at a URL; throws as `openPostgresSnapshot`. */
export async function postgresIdentity(text: string): Promise<string> {
  const snapshot = await openPostgresSnapshot(text);
  try {
    const { rows } = await sql<{ identity: string }>`${sql.raw(IDENTITY)}`.execute(snapshot.read);
    return rows[0]?.identity ?? '';
  } finally {
    await snapshot.close();
  }
}
