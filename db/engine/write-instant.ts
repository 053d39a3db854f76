// The instants that the service sets: in each organization they follow the order in which its writes are committed.
import { changeState, knownState } from './organization-state.ts';
import type { Db } from './schema.ts';

/**
 * The instant of the write that the transaction carries out, Unix milliseconds: that of the clock or, where the
 * organization's last write has had it, as after the clock was set back, the next one. So whoever asks for what came
 * since the last record seen misses nothing.
 */
export async function takeInstant(trx: Db, orgId: number, clock: number): Promise<number> {
  const state = await knownState(trx, orgId);
  const instant = Math.max(clock, state.instant + 1);
  changeState(trx, state, { instant });
  return instant;
}
