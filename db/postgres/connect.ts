// A connection to a database for work other than serving it.
import { type PostgresAddress, parseAddress } from './address.ts';
import { clientOptions } from './client-options.ts';
import { PostgresConnection } from './connection.ts';
import { explainOpening, explainStatement } from './errors.ts';
import { findPassword } from './password.ts';
import type { ConnectionPurpose } from './settings.ts';

/**
 * Makes a connection, which the caller must close.
 * @throws DatabaseAddressError if the URL is not valid
 */
export function connectTo(
  text: string,
  purpose: ConnectionPurpose,
  onWarning: (warning: string) => void = () => undefined,
): { address: PostgresAddress; connection: PostgresConnection } {
  const address = parseAddress(text);
  const { password, warning } = findPassword(address);
  if (warning !== null) onWarning(warning);
  address.password = password;
  const explain = (error: unknown) => explainOpening(address, error);
  return { address, connection: new PostgresConnection(clientOptions(address, purpose), explain) };
}

/**
 * Runs something on a separate connection.
 * @throws DatabaseAddressError if the URL is not valid; PostgresError if the database cannot be used
 */
export async function withConnection<T>(
  text: string,
  purpose: ConnectionPurpose,
  job: (connection: PostgresConnection) => Promise<T>,
): Promise<T> {
  const { address, connection } = connectTo(text, purpose);
  try {
    return await job(connection);
  } catch (error) {
    throw explainStatement(address, error);
  } finally {
    await connection.close();
  }
}
