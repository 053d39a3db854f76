// How long changes are kept: set by the operator for all nodes, and older ones removed a few at a time.

import { sql } from 'kysely';
import { CHANGE_ACTIONS, CHANGE_RESOURCES } from '../changes/changes.ts';
import { findLogState } from '../changes/log-state.ts';
import { findSequenceAt } from '../changes/places.ts';
import { listChanges } from '../changes/queries.ts';
import { changesIn } from '../changes/runs.ts';
import type { ChangeRow } from '../engine/change-row.ts';
import { CHANGES_DAYS, changesDaysOf } from '../engine/changes-kept.ts';
import { loadOrganizationState, setOrganizationState } from '../engine/organization-state.ts';
import type { Db, Trx } from '../engine/schema.ts';
import { findSetting, setSetting } from '../engine/setting.ts';
import { getResource } from '../model/resources/registry.ts';
import { findRecord } from '../records/records.ts';
import type { Store } from '../store.ts';
import { idOfBytes } from '../tables/id-bytes.ts';
import { forgetRecords } from '../timeline/removal.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const PURGED_ROWS_MAX = 1_000;
// Takes about twenty milliseconds.
const PIECES_MAX = 20;

/** Sets for how many days changes are kept, by all servers of the database; 0 for none at all. */
export function setChangesDays(trx: Trx, days: number): Promise<void> {
  return setSetting(trx, CHANGES_DAYS, String(days));
}

/** For how many days changes are kept. */
export async function findChangesDays(db: Db): Promise<number> {
  return changesDaysOf(await findSetting(db, CHANGES_DAYS));
}

/** Number of changes that the log contains. */
export async function countChanges(db: Db): Promise<number> {
  const { total } = await db
    .selectFrom('org_clocks')
    .select(sql<number | null>`sum(last_change - oldest_change + 1)`.as('total'))
    .executeTakeFirstOrThrow();
  return Number(total ?? 0);
}

/**
 * Removes the changes that are no longer kept, a few at a time and under the lock of their organization, so that no write
 * waits long. The log begins after them from now on, but they are only removed the next time: a page that is being read has no gap.
 * Returns the number that it removed.
 * @param now Unix milliseconds
 */
export async function purgeChanges(store: Pick<Store, 'read' | 'write'>, now: number): Promise<number> {
  const days = await findChangesDays(store.read);
  const before = days === 0 ? Number.MAX_SAFE_INTEGER : now - days * DAY_MS;
  let total = 0;
  for (const orgNumber of await findOrganizationsWithOld(store.read, before)) {
    for (let rows = PURGED_ROWS_MAX; rows === PURGED_ROWS_MAX; ) {
      const removed = await store.write(orgNumber, (trx) => removeOldest(trx, orgNumber));
      rows = removed.rows;
      total += removed.changes;
    }
    await moveStart(store, orgNumber, before);
  }
  return total;
}

async function findOrganizationsWithOld(db: Db, before: number): Promise<number[]> {
  const rows = await db
    .selectFrom('org_clocks as clock')
    .select('clock.org_id')
    .where('clock.last_change', '>', 0)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom(
            eb
              .selectFrom('changes as change')
              .select(['change.at', 'change.sequence'])
              .whereRef('change.org_id', '=', 'clock.org_id')
              .orderBy('change.sequence')
              .limit(1)
              .as('oldest'),
          )
          .select('oldest.at')
          .where((or) =>
            or.or([or('oldest.at', '<', before), or('oldest.sequence', '<', or.ref('clock.oldest_change'))]),
          ),
      ),
    )
    .execute();
  return rows.map(({ org_id }) => org_id);
}

// Removes changes before the start of the log; returns how many.
async function removeOldest(trx: Trx, orgNumber: number): Promise<{ rows: number; changes: number }> {
  const { first } = (await loadOrganizationState(trx, orgNumber)).changes;
  const old = await trx
    .selectFrom('changes')
    .select(['sequence', 'record', 'action', 'resource'])
    .where('org_id', '=', orgNumber)
    .where('sequence', '<', first)
    .orderBy('sequence')
    .limit(PURGED_ROWS_MAX)
    .execute();
  const last = old.at(-1)?.sequence;
  if (last === undefined) return { rows: 0, changes: 0 };
  const gone = await listGone(trx, orgNumber, old);
  // Again next time, as the changes that say which records these are stay.
  if (!(await forgetRecords(trx, orgNumber, gone, PIECES_MAX))) return { rows: PURGED_ROWS_MAX, changes: 0 };
  await trx.deleteFrom('changes').where('org_id', '=', orgNumber).where('sequence', '<=', last).execute();
  return { rows: old.length, changes: old.reduce((sum, row) => sum + changesIn(row), 0) };
}

// The records that were deleted by one of the changes, and that no later change can restore.
async function listGone(
  trx: Trx,
  orgNumber: number,
  changes: readonly Pick<ChangeRow, 'action' | 'resource' | 'record' | 'sequence'>[],
): Promise<string[]> {
  const { last: to } = (await loadOrganizationState(trx, orgNumber)).changes;
  const gone: string[] = [];
  for (const { action, resource, record, sequence } of changes) {
    if (CHANGE_ACTIONS[action] !== 'deleted') continue;
    const id = idOfBytes(record);
    const deleted = getResource(CHANGE_RESOURCES[resource] ?? '');
    if ((await findRecord(trx, deleted, { orgNumber, id })) !== undefined) continue;
    const filters = { resources: [deleted.name], recordId: id, action: 'undeleted', request: null } as const;
    const range = { orgNumber, from: sequence + 1, to, direction: 'desc', limit: 1 } as const;
    if ((await listChanges(trx, { ...filters, ...range })).rows.length === 0) gone.push(id);
  }
  return gone;
}

async function moveStart(
  store: Pick<Store, 'read' | 'write'>,
  orgNumber: number,
  before: number,
): Promise<void> {
  // Outside the transaction, in which changes of other jobs are not written yet.
  const log = await findLogState(store.read, orgNumber);
  const start = await findSequenceAt(store.read, orgNumber, log, before);
  if (start === log.first) return;
  await store.write(orgNumber, async (trx) => {
    const state = await loadOrganizationState(trx, orgNumber);
    const first = Math.max(state.changes.first, start);
    setOrganizationState(trx, state, { changes: { ...state.changes, first } });
  });
}
