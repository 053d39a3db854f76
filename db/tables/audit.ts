// The audit log: actions of operators and keys, in the transaction of the action; no personal data, key or token.

import { bulkInsert, type TableRow } from '../engine/bulk-insert.ts';
import type { AuditRow, Db, Trx } from '../engine/schema.ts';
import type { Data } from '../model/json.ts';
import type { Store } from '../store.ts';
import { recordId } from './record-id.ts';

/** All audited actions. */
export const AUDIT_ACTIONS = [
  'organization.created',
  'organization.changed',
  'organization.deleted',
  'user.created',
  'user.changed',
  'user.removed',
  'key.issued',
  'key.changed',
  'key.rotated',
  'key.revoked',
  'record.deleted',
  'record.undeleted',
  'export.started',
  'list.walked',
  'people.exported',
  'people.erased',
  'webhook.created',
  'webhook.changed',
  'webhook.deleted',
  'webhook.rotated',
  'webhook.replayed',
  'webhook.disabled',
  'quota.changed',
  'secrets.rotated',
  'backup.restored',
  'data.migrated',
  'audit.pruned',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Who did it, and from where. */
export interface Actor {
  type: 'operator' | 'key' | 'server';
  /** An operator's `user@host`, a key's ID, or a server's host. */
  id: string;
  /** The user that a key is bound to. */
  userId: string | null;
  /** A client IP, or how else it was done. */
  origin: string;
}

/** The actor of what a server does by itself; `host` is where it runs. */
export function serverActor(host: string): Actor {
  return { type: 'server', id: host, userId: null, origin: 'server' };
}

export interface AuditEntry {
  /** The organization's number; null for actions that belong to none. */
  orgNumber: number | null;
  actor: Actor;
  action: AuditAction;
  /** The target of the action: a resource, or `keys`, `users`, `webhooks`, `organizations`, and the ID. */
  target: { type: string; id: string | null } | null;
  requestId?: string;
  /** A few small values: no personal names, addresses or titles, and no secrets. */
  details?: Data;
  /** Unix milliseconds. */
  now: number;
}

const OF_NONE = 0;

const insert = bulkInsert('audit_log', [
  'org_id',
  'created_at',
  'id',
  'actor_type',
  'actor',
  'user_id',
  'origin',
  'action',
  'target_type',
  'target_id',
  'request_id',
  'details',
]);

/** Adds an entry, in the transaction of the action. */
export function recordAudit(trx: Trx, entry: AuditEntry): Promise<void> {
  return recordAuditOf(trx, [entry]);
}

/** Adds entries in order, in the transaction of their actions. */
export async function recordAuditOf(trx: Trx, entries: readonly AuditEntry[]): Promise<void> {
  return insert(trx, entries.map(rowOf));
}

function rowOf({ orgNumber, actor, action, target, requestId, details, now }: AuditEntry): TableRow {
  return {
    org_id: orgNumber ?? OF_NONE,
    created_at: now,
    id: recordId(now),
    actor_type: actor.type,
    actor: actor.id,
    user_id: actor.userId,
    origin: actor.origin,
    action,
    target_type: target?.type ?? null,
    target_id: target?.id ?? null,
    request_id: requestId ?? null,
    details: details === undefined ? null : JSON.stringify(details),
  };
}

/** An entry with the ID of its organization. */
export type ListedEntry = AuditRow & { organization_id: string | null };

export interface AuditQuery {
  orgNumber?: number;
  /** Unix milliseconds, inclusive. */
  since?: number;
  action?: AuditAction;
  /** A key's ID, the ID of the user it is bound to, or an operator's `user@host`. */
  actor?: string;
  /** The entry after which to continue. */
  after?: Pick<AuditRow, 'created_at' | 'id'>;
  limit: number;
}

/** Matching entries, newest first. */
export function listAudit(db: Db, { orgNumber, since, action, actor, after, limit }: AuditQuery) {
  let query = db
    .selectFrom('audit_log as entry')
    .leftJoin('organizations as organization', 'organization.number', 'entry.org_id')
    .selectAll('entry')
    .select('organization.id as organization_id')
    .orderBy('entry.created_at', 'desc')
    .orderBy('entry.id', 'desc')
    .limit(limit);
  if (orgNumber !== undefined) query = query.where('entry.org_id', '=', orgNumber);
  if (since !== undefined) query = query.where('entry.created_at', '>=', since);
  if (action !== undefined) query = query.where('entry.action', '=', action);
  if (actor !== undefined)
    query = query.where((eb) => eb.or([eb('entry.actor', '=', actor), eb('entry.user_id', '=', actor)]));
  if (after !== undefined)
    query = query.where((eb) =>
      eb.and([
        eb('entry.created_at', '<=', after.created_at),
        eb.or([eb('entry.created_at', '<', after.created_at), eb('entry.id', '<', after.id)]),
      ]),
    );
  return query.execute();
}

/** Minimum time for which the database keeps an entry, in milliseconds: 30 days. */
export const AUDIT_KEPT_MS_MIN = 30 * 24 * 60 * 60 * 1_000;
const DAY_MS = 24 * 60 * 60 * 1_000;
const PRUNED_ROWS_MAX = 500;

/**
 * Removes the entries of expired days, a few at a time so that no write waits long, and records in one entry how many were
 * removed.
 * @param keepMs how long entries are kept, in milliseconds
 * @param host of the server that removes them
 */
export async function pruneAudit(
  store: Pick<Store, 'read' | 'write'>,
  { keepMs, host, now }: { keepMs: number; host: string; now: number },
): Promise<void> {
  const before = Math.floor((now - keepMs) / DAY_MS) * DAY_MS;
  let total = 0;
  for (;;) {
    const old = await findBefore(store.read, before);
    const upTo = old.at(-1)?.created_at;
    if (upTo === undefined) break;
    total += await store.write('accounts', (trx) => deleteUpTo(trx, upTo));
  }
  if (total === 0) return;
  const actor = serverActor(host);
  const details = { entries: total, before: new Date(before).toISOString() };
  await store.write('accounts', (trx) =>
    recordAudit(trx, { orgNumber: null, actor, action: 'audit.pruned', target: null, details, now }),
  );
}

function findBefore(db: Db, before: number): Promise<Pick<AuditRow, 'created_at'>[]> {
  const old = db.selectFrom('audit_log').select('created_at').where('created_at', '<', before);
  return old.orderBy('created_at').limit(PRUNED_ROWS_MAX).execute();
}

async function deleteUpTo(trx: Trx, upTo: number): Promise<number> {
  const { numDeletedRows } = await trx
    .deleteFrom('audit_log')
    .where('created_at', '<=', upTo)
    .executeTakeFirst();
  return Number(numDeletedRows);
}
