// A database of PostgreSQL as it is at one moment.
import { sql } from 'kysely';
import type { DatabaseSnapshot } from '../engine/snapshot.ts';
import { checkServer } from './check-server.ts';
import { connectTo } from './connect.ts';
import type { PostgresConnection } from './connection.ts';
import { explainStatement } from './errors.ts';

/**
 * Opens a database to be read.
 * @throws DatabaseAddressError if the address is none; PostgresError if the database cannot be used
 */
export async function openPostgresSnapshot(
  text: string,
  onWarning?: (warning: string) => void,
): Promise<DatabaseSnapshot> {
  const connection = await openPostgresConnection(text, onWarning);
  return { read: connection.db, close: () => connection.close() };
}

/** The connection that such a snapshot goes by; errors are the same. */
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

// When the server was started tells it from every other, whatever name and port it is reached by.
const IDENTITY = `
  select concat_ws('/', pg_postmaster_start_time(), oid) as identity from pg_database where datname = current_database()`;

/** What tells the database at an address from every other; errors as of `openPostgresSnapshot`. */
export async function postgresIdentity(text: string): Promise<string> {
  const snapshot = await openPostgresSnapshot(text);
  try {
    const { rows } = await sql<{ identity: string }>`${sql.raw(IDENTITY)}`.execute(snapshot.read);
    return rows[0]?.identity ?? '';
  } finally {
    await snapshot.close();
  }
}
