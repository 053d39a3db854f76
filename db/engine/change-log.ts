// The log of an organization's changes: numbers them, and writes them in the transaction of what they report.
import { type BulkInsert, bulkInsert } from './bulk-insert.ts';
import type { ChangeRow } from './change-row.ts';
import { andThen, type Eventually } from './engine.ts';
import { loadOrganizationState, setOrganizationState } from './organization-state.ts';
import type { RecordTrx, Trx } from './schema.ts';
import { savePending } from './search-pending.ts';
import type { OrganizationState } from './transaction.ts';

/** A row with changes of records or links, before it has its place in the log. */
export interface NewChange
  extends Pick<ChangeRow, 'action' | 'resource' | 'record' | 'owner' | 'data' | 'company'> {
  /** The number of changes in it. */
  count: number;
}

/** What changes that are noted together have in common. */
export interface ChangeContext {
  orgNumber: number;
  /** Unix milliseconds. */
  at: number;
  /** The sequence number of the change that caused them; by default, none did. */
  cause?: number | null | undefined;
  /** The sequence number of the first one, if it was taken before. */
  sequence?: number | undefined;
}

const COLUMNS = [
  'org_id',
  'sequence',
  'at',
  'action',
  'resource',
  'record',
  'actor',
  'request',
  'cause',
  'owner',
  'data',
  'company',
] as const satisfies readonly (keyof ChangeRow)[];
const insert: BulkInsert = bulkInsert('changes', COLUMNS);

// A delete can cause any number of changes; keeping more of them would only use memory.
const WAITING_MAX = 5_000;
const ROWS_PER_INSERT = 1_000;

/**
 * Logs changes in order; they are written before the commit. Returns the sequence number of the first.
 * @param total number of changes
 * @param make makes them; not called if none are kept
 */
export function logChanges(
  trx: RecordTrx,
  { orgNumber, at, cause = null, sequence: taken }: ChangeContext,
  total: number,
  make: () => readonly NewChange[],
): Eventually<number> {
  const { progress } = trx.engine;
  const { keyNumber: actor, request } = progress.author;
  return andThen(loadOrganizationState(trx, orgNumber), (state) => {
    const first = taken ?? takeFrom(trx, state, at, total);
    if (!state.changes.areKept) return first;
    let sequence = first - 1;
    for (const { action, resource, record, owner, data, count, company } of make()) {
      sequence += count;
      // Without spreading, which costs more than all else here.
      progress.changes.add({
        org_id: orgNumber,
        sequence,
        at,
        action,
        resource,
        record,
        actor,
        request,
        cause,
        owner,
        data,
        company,
      });
    }
    return progress.changes.waiting > WAITING_MAX ? saveChanges(trx).then(() => first) : first;
  });
}

/** Writes what was noted; call it before the commit. */
export async function saveChanges(trx: Trx): Promise<void> {
  const rows = trx.engine.progress.changes.take();
  for (let from = 0; from < rows.length; from += ROWS_PER_INSERT)
    await insert(trx, rows.slice(from, from + ROWS_PER_INSERT) as never);
  await savePending(trx);
}

/**
 * Takes sequence numbers for changes that must be noted later in the transaction; returns the first.
 * @param count how many
 */
export function takeSequence(
  trx: Trx,
  { orgNumber, at }: Pick<ChangeContext, 'orgNumber' | 'at'>,
  count = 1,
): Eventually<number> {
  return andThen(loadOrganizationState(trx, orgNumber), (state) => takeFrom(trx, state, at, count));
}

function takeFrom(trx: Trx, state: OrganizationState, at: number, count: number): number {
  // What is not kept lies before the first change that is, so that the log has no gap.
  const { last, first, areKept } = state.changes;
  const changes = { areKept, last: last + count, first: areKept ? first : last + count + 1 };
  setOrganizationState(trx, state, { changes, instant: Math.max(state.instant, at) });
  return last + 1;
}

/** The sequence number of the last change of an organization. */
export async function lastChange(trx: Trx, orgNumber: number): Promise<number> {
  return (await loadOrganizationState(trx, orgNumber)).changes.last;
}
