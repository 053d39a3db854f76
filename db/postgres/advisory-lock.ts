// Jobs that one node at a time does.
import type { PostgresConnection } from './connection.ts';

// Any number that is always the same.
const LOCK = 4_209_922;
// While the job is done elsewhere the transaction that has the lock is idle; a node that freezes keeps it no longer.
const LONGEST = '1h';

/**
 * Runs the job, unless a node is at it already: then it is not run at all.
 * @param connection of nobody else; it is closed
 */
export async function runAlone(connection: PostgresConnection, job: () => Promise<void>): Promise<void> {
  try {
    // The lock is the transaction's: that of a session a pooler would keep.
    await connection.begin();
    await connection.run(`set local idle_in_transaction_session_timeout = '${LONGEST}'`);
    const [row] = await connection.run('select pg_try_advisory_xact_lock($1) as is_mine', [LOCK]);
    if (row?.is_mine === true) await job();
  } finally {
    await connection.rollback();
    await connection.close();
  }
}
