// What an operator does, told in the audit log of the database that it is done to.
import { hostname, userInfo } from 'node:os';
import type { Db } from '../../db/schema.ts';
import type { AuditEntry } from '../../db/tables/audit.ts';

/**
 * Adds an entry for what the person at this command line does, in the transaction that does it.
 * @param entry `now` is the moment unless given, Unix milliseconds
 */
export async function recordAction(
  trx: Db,
  entry: Omit<AuditEntry, 'actor' | 'requestId' | 'now'> & { now?: number },
): Promise<void> {
  const { recordAudit } = await import('../../db/tables/audit.ts');
  const actor = {
    type: 'operator',
    id: `${userName()}@${hostname()}`,
    userId: null,
    origin: 'command line',
  } as const;
  await recordAudit(trx, { now: Date.now(), ...entry, actor });
}

// In a container a user may well have a number alone.
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
