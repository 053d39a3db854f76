// Jobs that one node at a time does.
import type { PostgresConnection } from './connection.ts';

// Any number that is always the same.
const LOCK = 4_209_922;

/**
 * Runs the job, unless a node is at it already: then it is not run at all.
 * @param connection of nobody else: the lock ends with it, which is closed
 */
export async function runAlone(connection: PostgresConnection, job: () => Promise<void>): Promise<void> {
  try {
    const [row] = await connection.run('select pg_try_advisory_lock($1) as is_mine', [LOCK]);
    if (row?.is_mine === true) await job();
  } finally {
    await connection.close();
  }
}
