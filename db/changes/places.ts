// Finds the place of an instant in the log of changes.

import { sql } from 'kysely';
import type { Db } from '../engine/schema.ts';
import { statement, written } from '../engine/statement.ts';

// Continues from a place in ever smaller steps, as long as the changes before are earlier.
const search = statement<{ place: number }>((db, param) => {
  const isInRange = sql`place + step <= ${param('end')}`;
  const at = sql`
    select at from changes where org_id = ${param('org')} and sequence >= place + step - 1 order by sequence limit 1`;
  const isEarlier = sql`coalesce((${at}) < ${param('instant')}, true)`;
  return written(
    db,
    sql`
      with recursive steps (place, step) as (
        select cast(${param('from')} as bigint), cast(${param('step')} as bigint)
        union all
        select case when ${isInRange} and ${isEarlier} then place + step else place end, step / 2
        from steps where step > 0
      )
      select place from steps where step = 0`,
  );
});

/** The lowest sequence number, from `first` to `last` + 1, of which all changes happened at that instant or later. */
export async function findSequenceAt(
  db: Db,
  orgNumber: number,
  { first, last }: { first: number; last: number },
  instant: number,
): Promise<number> {
  const end = last + 1;
  if (first >= end) return first;
  // Instants never decrease from one change to the next.
  const step = 2 ** Math.floor(Math.log2(end - first));
  const [found] = await search(db, { org: orgNumber, instant, from: first, end, step });
  return found?.place ?? first;
}
