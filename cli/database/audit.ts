// Records the actions of operators in the audit log of the database.

import { existsSync, readFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import type { ApiKeyRow, Trx } from '../../db/engine/schema.ts';
import type { Data } from '../../db/model/json.ts';
import { type AuditEntry, recordAudit } from '../../db/tables/audit.ts';
import { isoTime } from './database.ts';

const USERS = '/etc/passwd';

/**
 * Adds an entry for an action of the person at this command line, in the transaction of that action.
 * @param entry `now` is in Unix milliseconds, by default the current time
 */
export async function recordAction(
  trx: Trx,
  entry: Omit<AuditEntry, 'actor' | 'requestId' | 'now'> & { now?: number },
): Promise<void> {
  const actor = {
    type: 'operator',
    id: `${userName()}@${hostname()}`,
    userId: null,
    origin: 'command line',
  } as const;
  await recordAudit(trx, { now: Date.now(), ...entry, actor });
}

/** The entry of an issued key: its access, scopes, limits and expiry. */
export function issuedEntry(row: ApiKeyRow) {
  const { org_id: orgNumber, id, api, access, scopes, networks, expires_at, requests_per_minute } = row;
  const details: Data = {
    api,
    access,
    scopes: scopes === '' ? [] : scopes.split(','),
    networks: networks?.split(',') ?? null,
    ...(requests_per_minute !== null && { requests_per_minute }),
    expires_at: isoTime(expires_at),
  };
  return { action: 'key.issued', orgNumber, target: { type: 'keys', id }, details } as const;
}

// From the system's user list, because anybody can set another name in the environment, where Bun looks. A user who is
// not in the list, as in a container, has only a number.
function userName(): string {
  const uid = process.getuid?.();
  if (uid === undefined) return userInfo().username;
  const users = existsSync(USERS) ? readFileSync(USERS, 'utf8').split('\n') : [];
  const [name] = users.map((line) => line.split(':')).find(([, , id]) => id === String(uid)) ?? [];
  return name ?? `uid ${uid}`;
}
