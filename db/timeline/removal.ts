// Removes from timelines what no undelete can bring back: records that are gone for good, and all that showed on them.

import { sql } from 'kysely';
import type { Trx } from '../engine/schema.ts';
import { statement } from '../engine/statement.ts';
import { CHANGES_FROM, type TimelineRow } from '../engine/timeline-row.ts';
import { TimeSlices } from '../event-loop.ts';
import { textBytes } from '../tables/id-bytes.ts';

const ROWS_AT_ONCE = 500;

type Key = Pick<TimelineRow, 'kind' | 'at' | 'record' | 'sequence' | 'via'>;

const onSubject = statement<Key>((db, param) =>
  db
    .selectFrom('timeline_entries')
    .select(['kind', 'at', 'record', 'sequence', 'via'])
    .where('org_id', '=', param('org'))
    .where('subject', '=', param('subject'))
    .orderBy('kind')
    .orderBy('at')
    .orderBy('record')
    .orderBy('sequence')
    .orderBy('via')
    .limit(ROWS_AT_ONCE),
);

const removeUpTo = statement<never>((db, param) =>
  db
    .deleteFrom('timeline_entries')
    .where('org_id', '=', param('org'))
    .where('subject', '=', param('subject'))
    .where((eb) =>
      eb(
        eb.refTuple('kind', 'at', 'record', 'sequence', 'via'),
        '<=',
        eb.tuple(param('kind'), param('at'), param('record'), param('sequence'), param('via')),
      ),
    ),
);

const removeThrough = statement<never>((db, param) =>
  db
    .deleteFrom('timeline_entries')
    .where('org_id', '=', param('org'))
    .where('record', '=', param('record'))
    .where('kind', '<', sql.lit(CHANGES_FROM))
    .where('via', '=', param('via')),
);

const subjectsOf = statement<{ subject: Uint8Array }>((db, param) =>
  db
    .selectFrom('timeline_entries')
    .select('subject')
    .where('org_id', '=', param('org'))
    .where('record', '=', param('record'))
    .where('kind', '<', sql.lit(CHANGES_FROM))
    .orderBy('subject')
    .limit(ROWS_AT_ONCE),
);

const removeAbout = statement<never>((db, param) =>
  db
    .deleteFrom('timeline_entries')
    .where('org_id', '=', param('org'))
    .where('record', '=', param('record'))
    .where('kind', '<', sql.lit(CHANGES_FROM))
    .where('subject', '<=', param('subject')),
);

/**
 * Removes the timelines of records, and the entries about them on others.
 * @param piecesMax after how many pieces to stop
 * @returns whether nothing is left
 */
export async function forgetRecords(
  trx: Trx,
  orgNumber: number,
  ids: readonly string[],
  piecesMax = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const turns = new TimeSlices();
  let pieces = 0;
  for (const id of ids) {
    const bytes = textBytes(id);
    while (await forgetSome(trx, orgNumber, bytes)) {
      pieces += 1;
      if (pieces >= piecesMax) return false;
      if (turns.isOver) await turns.next();
    }
  }
  return true;
}

// Returns whether there was anything left.
async function forgetSome(trx: Trx, org: number, id: Uint8Array): Promise<boolean> {
  const shown = await onSubject(trx, { org, subject: id });
  const last = shown.at(-1);
  if (last !== undefined) {
    const records = new Set(shown.map(({ record }) => record.toHex()));
    for (const record of records)
      await removeThrough(trx, { org, record: Uint8Array.fromHex(record), via: id });
    await removeUpTo(trx, { ...last, org, subject: id });
    return true;
  }
  const subject = (await subjectsOf(trx, { org, record: id })).at(-1)?.subject;
  if (subject === undefined) return false;
  await removeAbout(trx, { org, record: id, subject });
  return true;
}
