// Whether each connection has a session for itself: a pooler may give it another's, whose statements have the same names.
import type { PostgresAddress } from './address.ts';
import type { PostgresConnection } from './connection.ts';
import { behindPooler } from './errors.ts';
import { SETTINGS } from './settings.ts';

const QUESTION = `
  select current_setting('lock_timeout') as told, current_setting('idle_in_transaction_session_timeout') = '0' as is_patient`;
// One that gives out its sessions in turn has come round by then, if it has two.
const ROUNDS = 3;

export interface PoolerCheck {
  /** Opens another connection like the first. */
  another: () => PostgresConnection;
  onWarning: ((warning: string) => void) | undefined;
}

/**
 * Asks over a connection for migrating.
 * @throws PostgresError if connections run statements of one another
 */
export async function checkPooler(
  address: PostgresAddress,
  connection: PostgresConnection,
  { another, onWarning }: PoolerCheck,
): Promise<void> {
  const [row] = await connection.run(QUESTION);
  // A pooler that hands on what a connection asks for as it begins keeps a session for it alone.
  if (row?.told === SETTINGS.migrating.lock_timeout) return;
  const other = another();
  try {
    await assertOwnStatements(address, [connection, other]);
  } finally {
    await other.close();
  }
  if (row?.is_patient === true) onWarning?.(warningOf(address));
}

// The same place in the order of a connection has one name, whatever stands there.
async function assertOwnStatements(
  address: PostgresAddress,
  connections: readonly PostgresConnection[],
): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, connection] of connections.entries()) {
      const [row] = await connection.run(`select ${index} as number where $1::bool`, [true]);
      if (row?.number !== index) throw behindPooler(address, "another connection's statement was run");
    }
  }
}

function warningOf({ shown, user }: PostgresAddress): string {
  const settings = Object.entries(SETTINGS.writing).filter(([name]) => name.endsWith('_timeout'));
  const commands = settings.map(([name, value]) => `ALTER ROLE "${user}" SET ${name} = '${value}';`);
  return (
    `The database ${shown} is behind a pooler that drops crm's timeouts: whoever freezes amid a write holds up its ` +
    `organization. Give them to the role:\n${commands.join('\n')}`
  );
}
