// What an organization with a quota holds: counted in the transaction of each write that changes it, and held to the quota.
import type { Allowance, Eventually, Holdings } from './engine.ts';
import { changeState, knownState } from './organization-state.ts';
import type { Db } from './schema.ts';

/** A write that would take an organization beyond its quota; nothing of it is written. */
export class QuotaError extends Error {
  /** What it has too little of. */
  readonly lacking: keyof Holdings;
  /** How much of that the write adds. */
  readonly added: number;
  readonly allowance: Allowance;

  constructor(lacking: keyof Holdings, added: number, allowance: Allowance) {
    super(`the quota of ${lacking} is used up`);
    this.name = 'QuotaError';
    this.lacking = lacking;
    this.added = added;
    this.allowance = allowance;
  }
}

/**
 * Counts what a write adds to what the organization holds, or takes from it; comes before anything of it is written.
 * @param change asked only where it is counted
 * @throws QuotaError if that adds to what there is enough of already
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

/** Lets what is written next in the transaction go beyond the quota, for what has to be done whatever is left of it; it counts. */
export async function liftQuota(trx: Db, orgId: number): Promise<void> {
  const state = await knownState(trx, orgId);
  if (state.allowance === null) return;
  changeState(trx, state, { allowance: { ...state.allowance, recordsMax: null, bytesMax: null } });
}
