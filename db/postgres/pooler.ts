// Whether each connection has its own session: a pooler could share sessions, whose prepared statements have the same names.
import type { PostgresAddress } from './address.ts';
import type { PostgresConnection } from './connection.ts';
import { poolerError } from './errors.ts';
import { SETTINGS } from './settings.ts';

const QUESTION = `
  select current_setting('lock_timeout') as told, current_setting('idle_in_transaction_session_timeout') = '0' as is_patient`;
// With at least two sessions handed out in turn, a pooler has switched by then.
const ROUNDS = 3;

export interface PoolerCheck {
  /** Opens another connection like the first. */
  another: () => PostgresConnection;
  onWarning: ((warning: string) => void) | undefined;
}

/**
 * Asks over a connection for migrating.
 * @throws PostgresError if connections run each other's statements
 */
export async function checkPooler(
  address: PostgresAddress,
  connection: PostgresConnection,
  { another, onWarning }: PoolerCheck,
): Promise<void> {
  const [row] = await connection.run(QUESTION);
  // A pooler that passes a connection's startup parameters on keeps a separate session for it.
  if (row?.told === SETTINGS.migrating.lock_timeout) return;
  const other = another();
  try {
    await assertOwnStatements(address, [connection, other]);
  } finally {
    await other.close();
  }
  if (row?.is_patient === true) onWarning?.(warningOf(address));
}

// The statement at the same position of each connection has the same name, whatever its text.
async function assertOwnStatements(
  address: PostgresAddress,
  connections: readonly PostgresConnection[],
): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, connection] of connections.entries()) {
      const [row] = await connection.run(`select ${index} as number where $1::bool`, [true]);
      if (row?.number !== index) throw poolerError(address, "another connection's statement was run");
    }
  }
}

function warningOf({ shown, user }: PostgresAddress): string {
  const settings = Object.entries(SETTINGS.writing).filter(([name]) => name.endsWith('_timeout'));
  const commands = settings.map(([name, value]) => `ALTER ROLE "${user}" SET ${name} = '${value}';`);
  return (
    `The database ${shown} is behind a pooler that drops crm's timeouts: a process that freezes during a write blocks ` +
    `its organization. Set the timeouts for the role instead:\n${commands.join('\n')}`
  );
}
