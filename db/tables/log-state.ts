// What the log of an organization's changes contains: from where to where, and of which database.

import { sql } from 'kysely';
import { CHANGES_DAYS, keepsChanges } from '../engine/changes-kept.ts';
import type { Db } from '../engine/schema.ts';
import { statement } from '../engine/statement.ts';
import { CHANGES_EPOCH } from './settings.ts';

/** The log of an organization. */
export interface LogState {
  /** The sequence number of the last change; 0 if there is none yet. */
  last: number;
  /** The lowest sequence number from which the log is complete. */
  first: number;
  /** When the first of those happened, in Unix milliseconds; null if the log is empty. */
  firstAt: number | null;
  /** The instant of the organization's last write. */
  instant: number;
  /** Whether changes are kept at all. */
  isKept: boolean;
  /** Differs after a backup was restored. */
  epoch: string;
}

interface StateRow {
  last_change: number;
  oldest_change: number;
  first_at: number | null;
  instant: number;
  days: string | null;
  epoch: string | null;
}

const state = statement<StateRow>((db, param) =>
  db
    .selectFrom('org_clocks as clock')
    .select(['clock.last_change', 'clock.oldest_change', 'clock.instant'])
    .select((eb) => [
      eb
        .selectFrom('changes as change')
        .select('change.at')
        .whereRef('change.org_id', '=', 'clock.org_id')
        .whereRef('change.sequence', '>=', 'clock.oldest_change')
        .orderBy('change.sequence')
        .limit(1)
        .as('first_at'),
      eb.selectFrom('settings').select('value').where('name', '=', sql.lit(CHANGES_DAYS)).as('days'),
      eb.selectFrom('settings').select('value').where('name', '=', sql.lit(CHANGES_EPOCH)).as('epoch'),
    ])
    .where('clock.org_id', '=', param('org')),
);

/** What the log of an organization contains. */
export async function findLogState(db: Db, orgNumber: number): Promise<LogState> {
  const [row] = await state(db, { org: orgNumber });
  const {
    last_change: last = 0,
    oldest_change: first = 1,
    first_at: firstAt = null,
    instant = 0,
  } = row ?? {};
  const isKept = keepsChanges(row?.days);
  return { last, first, firstAt, instant, isKept, epoch: row?.epoch ?? '' };
}
