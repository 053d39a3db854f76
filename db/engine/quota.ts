// Counts what an organization with a quota holds, in the transaction of each write that changes it, and enforces the quota.
import type { Allowance, Eventually, Holdings } from './engine.ts';
import { changeState, knownState } from './organization-state.ts';
import type { Db } from './schema.ts';

/** A write that would exceed the quota of an organization; nothing of it is written. */
export class QuotaError extends Error {
  /** What there is too little of. */
  readonly lacking: keyof Holdings;
  /** How much of it the write adds. */
  readonly added: number;
  readonly allowance: Allowance;

  constructor(lacking: keyof Holdings, added: number, allowance: Allowance) {
    super(`the quota of ${lacking} is exceeded`);
    this.name = 'QuotaError';
    this.lacking = lacking;
    this.added = added;
    this.allowance = allowance;
  }
}

/**
 * Counts what a write adds to, or removes from, an organization; call it before writing.
 * @param change called only if the organization's content is counted
 * @throws QuotaError if it adds to something that has reached its limit
 */
export async function countChange(trx: Db, orgId: number, change: () => Eventually<Holdings>): Promise<void> {
  const known = knownState(trx, orgId);
  const state = known instanceof Promise ? await known : known;
  const { allowance } = state;
  if (allowance === null) return;
  const added = await change();
  const { recordsMax, bytesMax } = allowance;
  const records = allowance.records + added.records;
  const bytes = allowance.bytes + added.bytes;
  if (added.records > 0 && recordsMax !== null && records > recordsMax)
    throw new QuotaError('records', added.records, allowance);
  if (added.bytes > 0 && bytesMax !== null && bytes > bytesMax)
    throw new QuotaError('bytes', added.bytes, allowance);
  if (added.records !== 0 || added.bytes !== 0)
    changeState(trx, state, { allowance: { ...allowance, records, bytes } });
}

/** Lets later writes of the transaction exceed the quota, for work that must be done in any case; they still count. */
export async function liftQuota(trx: Db, orgId: number): Promise<void> {
  const state = await knownState(trx, orgId);
  if (state.allowance === null) return;
  changeState(trx, state, { allowance: { ...state.allowance, recordsMax: null, bytesMax: null } });
}
