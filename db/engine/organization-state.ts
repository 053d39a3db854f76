// What a transaction knows about the organizations that it writes to: the last instant, and the counted content.
import type { Eventually } from './engine.ts';
import type { OrgClockRow, Trx } from './schema.ts';
import { statement } from './statement.ts';
import type { OrganizationState } from './transaction.ts';

/** The columns of an organization that are read before writing to it. */
export const CLOCK_COLUMNS = [
  'last_instant',
  'records',
  'bytes',
  'records_max',
  'bytes_max',
  'answer_bytes',
  'answer_bytes_max',
] as const;
export type ClockRow = Pick<OrgClockRow, (typeof CLOCK_COLUMNS)[number]>;

const stored = statement<ClockRow>((db, param) =>
  db.selectFrom('org_clocks').select(CLOCK_COLUMNS).where('org_id', '=', param('org')),
);

/** The state of an organization from its row. */
export function organizationStateOf(orgNumber: number, row: ClockRow): OrganizationState {
  const { records, bytes, records_max: recordsMax, bytes_max: bytesMax } = row;
  const quota = records === null || bytes === null ? null : { records, bytes, recordsMax, bytesMax };
  const answers = { byHour: row.answer_bytes, bytesMax: row.answer_bytes_max };
  return { orgNumber, instant: row.last_instant, isStored: true, quota, answers };
}

/** The current state of an organization. Stored in the database, because other processes write to it too. */
export function loadOrganizationState(trx: Trx, orgNumber: number): Eventually<OrganizationState> {
  return trx.engine.progress.stateOf(orgNumber) ?? readState(trx, orgNumber);
}

async function readState(trx: Trx, orgNumber: number): Promise<OrganizationState> {
  const [row] = await stored(trx, { org: orgNumber });
  const state = row === undefined ? nothingKnown(orgNumber) : organizationStateOf(orgNumber, row);
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

function nothingKnown(orgNumber: number): OrganizationState {
  const answers = { byHour: null, bytesMax: null };
  return { orgNumber, instant: 0, isStored: true, quota: null, answers };
}

const storing = statement<never>((db, param) =>
  db
    .insertInto('org_clocks')
    .values({
      org_id: param('org'),
      last_instant: param('instant'),
      records: param('records'),
      bytes: param('bytes'),
      answer_bytes: param('answers'),
    } as never)
    .onConflict((conflict) =>
      conflict.column('org_id').doUpdateSet((eb) => ({
        last_instant: eb.ref('excluded.last_instant'),
        records: eb.ref('excluded.records'),
        bytes: eb.ref('excluded.bytes'),
        answer_bytes: eb.ref('excluded.answer_bytes'),
      })),
    ),
);

/** Stores the changed states of organizations; call it before the commit. */
export async function saveOrganizationStates(trx: Trx): Promise<void> {
  for (const { orgNumber, instant, isStored, quota, answers } of trx.engine.progress.states) {
    if (isStored) continue;
    const { records = null, bytes = null } = quota ?? {};
    await storing(trx, { org: orgNumber, instant, records, bytes, answers: answers.byHour });
  }
}
