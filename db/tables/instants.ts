// The instants that the service sets: in each organization they follow the order in which its writes are committed.
import type { Db } from '../schema.ts';
import { statement } from '../statement.ts';

const next = statement<{ last_instant: number }>((db, param) =>
  db
    .insertInto('org_clocks')
    .values({ org_id: param('org'), last_instant: param('clock') })
    .onConflict((conflict) =>
      conflict.column('org_id').doUpdateSet((eb) => {
        const last = eb.ref('org_clocks.last_instant');
        const clock = eb.ref('excluded.last_instant');
        return {
          last_instant: eb
            .case()
            .when(clock, '>', last)
            .then(clock)
            .else(eb(last, '+', 1))
            .end(),
        };
      }),
    )
    .returning('last_instant'),
);

/**
 * The instant of the write that the transaction carries out, Unix milliseconds: that of the clock or, where the
 * organization's last write has had it, as after the clock was set back, the next one. So whoever asks for what came
 * since the last record seen misses nothing. Kept in the database, because other processes write to it too.
 */
export async function takeInstant(trx: Db, orgId: number, clock: number): Promise<number> {
  const [row] = await next(trx, { org: orgId, clock });
  return row?.last_instant ?? clock;
}
