// Counts what an organization with a quota holds, in the transaction of each write that changes it, and enforces the quota.
import { andThen, type Eventually } from './engine.ts';
import { loadOrganizationState, setOrganizationState } from './organization-state.ts';
import type { Trx } from './schema.ts';
import type { OrganizationState, QuotaState, RecordTotals } from './transaction.ts';

/** A write that would exceed the quota of an organization; nothing of it is written. */
export class QuotaError extends Error {
  /** What there is too little of. */
  readonly lacking: keyof RecordTotals;
  /** How much of it the write adds. */
  readonly added: number;
  readonly quota: QuotaState;

  constructor(lacking: keyof RecordTotals, added: number, quota: QuotaState) {
    super(`the quota of ${lacking} is exceeded`);
    this.name = 'QuotaError';
    this.lacking = lacking;
    this.added = added;
    this.quota = quota;
  }
}

/**
 * Counts what a write adds to, or removes from, an organization; call it before writing.
 * @param change called only if the organization's content is counted
 * @throws QuotaError if it adds to something that has reached its limit
 */
export function chargeQuota(
  trx: Trx,
  orgNumber: number,
  change: () => Eventually<RecordTotals>,
): Eventually<void> {
  return andThen(loadOrganizationState(trx, orgNumber), (state) =>
    state.quota === null ? undefined : charge(trx, state, state.quota, change),
  );
}

async function charge(
  trx: Trx,
  state: OrganizationState,
  quota: QuotaState,
  change: () => Eventually<RecordTotals>,
): Promise<void> {
  const added = await change();
  const { recordsMax, bytesMax } = quota;
  const records = quota.records + added.records;
  const bytes = quota.bytes + added.bytes;
  if (added.records > 0 && recordsMax !== null && records > recordsMax)
    throw new QuotaError('records', added.records, quota);
  if (added.bytes > 0 && bytesMax !== null && bytes > bytesMax)
    throw new QuotaError('bytes', added.bytes, quota);
  if (added.records !== 0 || added.bytes !== 0)
    setOrganizationState(trx, state, { quota: { ...quota, records, bytes } });
}

/** Lets later writes of the transaction exceed the quota, for work that must be done in any case; they still count. */
export async function liftQuota(trx: Trx, orgNumber: number): Promise<void> {
  const state = await loadOrganizationState(trx, orgNumber);
  if (state.quota === null) return;
  setOrganizationState(trx, state, { quota: { ...state.quota, recordsMax: null, bytesMax: null } });
}
