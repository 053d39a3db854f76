// The instants that the service sets: within an organization they follow the order of commits.
import { loadOrganizationState, setOrganizationState } from './organization-state.ts';
import type { Trx } from './schema.ts';

/**
 * The instant of the transaction's write, in Unix milliseconds: the time of the clock, or the next millisecond after the
 * organization's last write if that is later, for example after the clock was set back. Clients that ask for changes
 * since the last record they saw therefore miss nothing.
 */
export async function takeInstant(trx: Trx, orgNumber: number, clock: number): Promise<number> {
  const state = await loadOrganizationState(trx, orgNumber);
  const instant = Math.max(clock, state.instant + 1);
  setOrganizationState(trx, state, { instant });
  return instant;
}
