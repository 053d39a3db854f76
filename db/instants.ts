// The instants that the service sets: in each organization they follow the order in which its writes are committed.
import type { Db } from './schema.ts';
import { statement } from './statement.ts';

const stored = statement<{ last_instant: number }>((db, param) =>
  db.selectFrom('org_clocks').select('last_instant').where('org_id', '=', param('org')),
);

/**
 * The instant of the write that the transaction carries out, Unix milliseconds: that of the clock or, where the
 * organization's last write has had it, as after the clock was set back, the next one. So whoever asks for what came
 * since the last record seen misses nothing. Kept in the database, because other processes write to it too.
 */
export async function takeInstant(trx: Db, orgId: number, clock: number): Promise<number> {
  const { instants } = trx.engine.progress;
  const taken = instants.findLast((one) => one.orgId === orgId)?.instant;
  const last = taken ?? (await stored(trx, { org: orgId }))[0]?.last_instant ?? 0;
  const instant = Math.max(clock, last + 1);
  instants.push({ orgId, instant, isStored: false });
  return instant;
}

const storing = statement<never>((db, param) =>
  db
    .insertInto('org_clocks')
    .values({ org_id: param('org'), last_instant: param('instant') })
    .onConflict((conflict) =>
      conflict.column('org_id').doUpdateSet((eb) => ({ last_instant: eb.ref('excluded.last_instant') })),
    ),
);

/** Stores the last instants that were taken in the transaction; comes before its commit. */
export async function storeInstants(trx: Db): Promise<void> {
  const { instants } = trx.engine.progress;
  const last = new Map(instants.map((one) => [one.orgId, one]));
  for (const [org, { instant, isStored }] of last) if (!isStored) await storing(trx, { org, instant });
}
