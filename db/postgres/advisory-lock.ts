// Jobs that only one node runs at a time.
import type { PostgresConnection } from './connection.ts';

// Any number that never changes.
const LOCK = 4_209_922;
// While the job runs, the transaction with the lock is idle; a frozen node loses the lock after this time.
const LONGEST = '1h';

/**
 * Runs the job, unless another node is running it.
 * @param connection used only for this; it is closed afterwards
 */
export async function withAdvisoryLock(
  connection: PostgresConnection,
  job: () => Promise<void>,
): Promise<void> {
  try {
    // A transaction lock, because a pooler would keep that of a session.
    await connection.begin();
    await connection.run(`set local idle_in_transaction_session_timeout = '${LONGEST}'`);
    const [row] = await connection.run('select pg_try_advisory_xact_lock($1) as is_mine', [LOCK]);
    if (row?.is_mine === true) await job();
  } finally {
    await connection.rollback();
    await connection.close();
  }
}
