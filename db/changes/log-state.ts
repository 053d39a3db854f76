// What the log of an organization's changes contains: from where to where, and of which database.

import { type Expression, sql } from 'kysely';
import { CHANGES_DAYS, keepsChanges } from '../engine/changes-kept.ts';
import type { Db } from '../engine/schema.ts';
import { type Param, statement } from '../engine/statement.ts';
import { CHANGES_EPOCH } from '../tables/settings.ts';

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

/** The log of an organization, seen from a place in it. */
export interface PlacedLog extends LogState {
  /** When the change at the place happened, in Unix milliseconds; null if the log does not have it. */
  placeAt: number | null;
  /** The same of the last change. */
  lastAt: number | null;
}

interface StateRow {
  last_change: number;
  oldest_change: number;
  first_at: number | null;
  instant: number;
  days: string | null;
  epoch: string | null;
}

const stateOf = (db: Db, param: Param) =>
  db
    .selectFrom('org_clocks as clock')
    .select(['clock.last_change', 'clock.oldest_change', 'clock.instant'])
    .select((eb) => [
      atOf(db, eb.ref('clock.oldest_change')).as('first_at'),
      eb.selectFrom('settings').select('value').where('name', '=', sql.lit(CHANGES_DAYS)).as('days'),
      eb.selectFrom('settings').select('value').where('name', '=', sql.lit(CHANGES_EPOCH)).as('epoch'),
    ])
    .where('clock.org_id', '=', param('org'));

// When a change happened, or the next one if that is not kept. A row can have several changes, and the number of the last.
function atOf(db: Db, sequence: Expression<number>) {
  return db
    .selectFrom('changes as change')
    .select('change.at')
    .whereRef('change.org_id', '=', sql.ref('clock.org_id'))
    .where('change.sequence', '>=', sequence)
    .orderBy('change.sequence')
    .limit(1);
}

const state = statement<StateRow>(stateOf);

const placed = statement<StateRow & { place_at: number | null; last_at: number | null }>((db, param) =>
  stateOf(db, param).select((eb) => [
    atOf(db, param('place')).as('place_at'),
    atOf(db, eb.ref('clock.last_change')).as('last_at'),
  ]),
);

/** What the log of an organization contains. */
export async function findLogState(db: Db, orgNumber: number): Promise<LogState> {
  const [row] = await state(db, { org: orgNumber });
  return stateIn(row);
}

/** The same, and when the change with that number happened, if there is one. */
export async function findPlacedLog(db: Db, orgNumber: number, sequence: number | null): Promise<PlacedLog> {
  const [row] = await placed(db, { org: orgNumber, place: sequence });
  const log = stateIn(row);
  const hasPlace = sequence !== null && sequence >= log.first;
  return { ...log, placeAt: hasPlace ? (row?.place_at ?? null) : null, lastAt: row?.last_at ?? null };
}

function stateIn(row: StateRow | undefined): LogState {
  const {
    last_change: last = 0,
    oldest_change: first = 1,
    first_at: firstAt = null,
    instant = 0,
  } = row ?? {};
  const isKept = keepsChanges(row?.days);
  return { last, first, firstAt, instant, isKept, epoch: row?.epoch ?? '' };
}
