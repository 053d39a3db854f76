// What a transaction knows about the organizations that it writes to: the last instant and change, and the counted content.
import { sql } from 'kysely';
import { CHANGES_DAYS, keepsChanges } from './changes-kept.ts';
import type { Eventually } from './engine.ts';
import type { Db, OrgClockRow, Trx } from './schema.ts';
import { type Param, statement } from './statement.ts';
import type { OrganizationState } from './transaction.ts';

const CLOCK_COLUMNS = [
  'instant',
  'records',
  'bytes',
  'records_max',
  'bytes_max',
  'answer_bytes',
  'answer_bytes_max',
  'last_change',
  'oldest_change',
] as const;
export type ClockRow = Pick<OrgClockRow, (typeof CLOCK_COLUMNS)[number]> & { changes_days: string | null };

/** The row of an organization, as it is read before writing to it. */
export function clockOf(db: Db, param: Param) {
  return db
    .selectFrom('org_clocks')
    .select(CLOCK_COLUMNS)
    .select((eb) =>
      eb.selectFrom('settings').select('value').where('name', '=', CHANGES_DAYS).as('changes_days'),
    )
    .where('org_id', '=', param('org'));
}

const stored = statement<ClockRow>(clockOf);

const daysAlone = statement<{ value: string }>((db) =>
  db.selectFrom('settings').select('value').where('name', '=', sql.lit(CHANGES_DAYS)),
);

/** The state of an organization from its row. */
export function organizationStateOf(orgNumber: number, row: ClockRow): OrganizationState {
  const { records, bytes, records_max: recordsMax, bytes_max: bytesMax } = row;
  const quota = records === null || bytes === null ? null : { records, bytes, recordsMax, bytesMax };
  const answers = { byHour: row.answer_bytes, bytesMax: row.answer_bytes_max };
  const changes = {
    last: row.last_change,
    first: row.oldest_change,
    areKept: keepsChanges(row.changes_days),
  };
  return { orgNumber, instant: row.instant, isStored: true, quota, answers, changes };
}

/** The current state of an organization. Stored in the database, because other processes write to it too. */
export function loadOrganizationState(trx: Trx, orgNumber: number): Eventually<OrganizationState> {
  return trx.engine.progress.stateOf(orgNumber) ?? readState(trx, orgNumber);
}

async function readState(trx: Trx, orgNumber: number): Promise<OrganizationState> {
  const [row] = await stored(trx, { org: orgNumber });
  const state = row === undefined ? await nothingKnown(trx, orgNumber) : organizationStateOf(orgNumber, row);
  trx.engine.progress.noteState(state);
  return state;
}

/** Notes a change of an organization's state, which is stored before the commit. */
export function setOrganizationState(
  trx: Trx,
  state: OrganizationState,
  change: Partial<OrganizationState>,
): void {
  trx.engine.progress.noteState({ ...state, ...change, isStored: false });
}

/** Runs a change of an organization's row itself, in order with the other changes of the transaction. */
export async function changeOrganizationRow<T>(
  trx: Trx,
  orgNumber: number,
  change: () => Promise<T>,
): Promise<T> {
  await saveOrganizationStates(trx);
  const result = await change();
  const [row] = await stored(trx, { org: orgNumber });
  if (row !== undefined) trx.engine.progress.noteState(organizationStateOf(orgNumber, row));
  return result;
}

/** The columns of an organization without changes. */
export const NO_CHANGES: Pick<OrgClockRow, 'last_change' | 'oldest_change'> = {
  last_change: 0,
  oldest_change: 1,
};

async function nothingKnown(trx: Trx, orgNumber: number): Promise<OrganizationState> {
  const [setting] = await daysAlone(trx, {});
  const answers = { byHour: null, bytesMax: null };
  const changes = { last: 0, first: 1, areKept: keepsChanges(setting?.value) };
  return { orgNumber, instant: 0, isStored: true, quota: null, answers, changes };
}

const storing = statement<never>((db, param) =>
  db
    .insertInto('org_clocks')
    .values({
      org_id: param('org'),
      instant: param('instant'),
      records: param('records'),
      bytes: param('bytes'),
      answer_bytes: param('answers'),
      last_change: param('last_change'),
      oldest_change: param('oldest_change'),
    } as never)
    .onConflict((conflict) =>
      conflict.column('org_id').doUpdateSet((eb) => ({
        instant: eb.ref('excluded.instant'),
        records: eb.ref('excluded.records'),
        bytes: eb.ref('excluded.bytes'),
        answer_bytes: eb.ref('excluded.answer_bytes'),
        last_change: eb.ref('excluded.last_change'),
        oldest_change: eb.ref('excluded.oldest_change'),
      })),
    ),
);

/** Stores the changed states of organizations; call it before the commit. */
export async function saveOrganizationStates(trx: Trx): Promise<void> {
  for (const { orgNumber, instant, isStored, quota, answers, changes } of trx.engine.progress.states) {
    if (isStored) continue;
    const { records = null, bytes = null } = quota ?? {};
    const { last: last_change, first: oldest_change } = changes;
    const counts = { records, bytes, answers: answers.byHour, last_change, oldest_change };
    await storing(trx, { org: orgNumber, instant, ...counts });
  }
}
