// Reads the updates on timelines, which are those of the log: by the indexes of its records, and of the companies that these had.

import { type RawBuilder, sql } from 'kysely';
import { CHANGE_ACTIONS } from '../changes/changes.ts';
import type { LogState } from '../changes/log-state.ts';
import { findSequenceAt } from '../changes/places.ts';
import { SPAN_BITS, spanOf } from '../changes/queries.ts';
import type { ChangeRow } from '../engine/change-row.ts';
import type { Db } from '../engine/schema.ts';
import { type Param, statement, written } from '../engine/statement.ts';
import { DIRECTLY, storedKind, type TimelineRow } from '../engine/timeline-row.ts';
import { TimeSlices } from '../event-loop.ts';
import { textBytes } from '../tables/id-bytes.ts';
import { instantOfId } from '../tables/record-id.ts';

/** The updates of a record, or those of the contacts and deals that a company had. */
export interface UpdateRange {
  subject: Uint8Array;
  isThrough: boolean;
  /** The part of the log in which they are, both ends included. */
  first: number;
  last: number;
  /** The instant of its end, in Unix milliseconds. */
  lastAt: number;
}

/** Which of them to read, newest first. */
interface UpdateQuery {
  /** The first instant, in Unix milliseconds. */
  since: number;
  /** What they are behind. */
  after: { at: number; record: Uint8Array; sequence: number };
  limit: number;
}

/** A record of which updates are wanted. */
export interface UpdatedRecord {
  id: string;
  /** When it was changed last, in Unix milliseconds: no update of it is later. */
  updatedAt: number;
  /** Whether the updates that show through contacts and deals are wanted, too. */
  isWhole: boolean;
}

/** The updates that show on the timeline of a record. */
export async function updateRanges(
  db: Db,
  orgNumber: number,
  log: LogState,
  { id, updatedAt, isWhole }: UpdatedRecord,
): Promise<UpdateRange[]> {
  const first = await firstOf(db, orgNumber, log, id);
  const all = { subject: textBytes(id), first, last: log.last, lastAt: log.instant };
  const own = { ...all, isThrough: false, lastAt: Math.min(log.instant, updatedAt) };
  if (hasManySpans(all) && updatedAt < log.instant)
    own.last = (await findSequenceAt(db, orgNumber, all, updatedAt + 1)) - 1;
  return isWhole ? [own, { ...all, isThrough: true }] : [own];
}

/** Whether to look into all spans of a part of the log takes longer than to look for a place in it. */
export function hasManySpans({ first, last }: { first: number; last: number }): boolean {
  return spanOf(last) - spanOf(first) >= FEW_SPANS;
}

// The first change since a record was created; not looked for where that takes longer than what it saves.
async function firstOf(db: Db, orgNumber: number, log: LogState, id: string): Promise<number> {
  const instant = instantOfId(id);
  if (Number.isNaN(instant) || !hasManySpans(log)) return log.first;
  return findSequenceAt(db, orgNumber, log, instant);
}

const FEW_SPANS = 20;
const SPANS_AT_ONCE = 500;
const FOUND_AT_ONCE = 8;

type UpdateRow = Pick<ChangeRow, 'at' | 'record' | 'sequence'>;

/** How an index of the log finds updates. */
interface UpdateIndex {
  isOn: (param: Param) => RawBuilder<boolean>;
  /** What orders them within a span: instants never decrease from one change to the next. */
  order: RawBuilder<unknown>;
}

const UPDATED = sql.lit(CHANGE_ACTIONS.indexOf('updated'));

const OWN: UpdateIndex = {
  // The index has all but creates.
  isOn: (param) => sql`record = ${param('subject')} and action <> 0 and action = ${UPDATED}`,
  order: sql`sequence desc`,
};
const THROUGH: UpdateIndex = {
  isOn: (param) => sql`company = ${param('subject')}`,
  order: sql`at desc, record desc, sequence desc`,
};

function updatesBy({ isOn, order }: UpdateIndex) {
  const inSpan = (param: Param, span: RawBuilder<unknown>) => sql`
    from changes where org_id = ${param('org')} and (sequence >> ${sql.lit(SPAN_BITS)}) = ${span} and ${isOn(param)}`;
  return {
    /** The spans that have any, the latest first, with the instant of the newest. */
    spans: statement<{ span: number; newest: number }>((db, param) => {
      // The sign takes the column's affinity, with which SQLite would not seek in the index of an expression.
      const newest = sql`select at ${inSpan(param, sql`+span`)} order by ${order} limit 1`;
      return written(
        db,
        sql`
          with recursive spans (span) as (
            select cast(${param('last')} as bigint)
            union all select span - 1 from spans where span > ${param('first')}
          )
          select span, newest from (select span, (${newest}) as newest from spans) as found
          where newest is not null limit ${param('limit')}`,
      );
    }),
    /** Those of a span. */
    rows: statement<UpdateRow>((db, param) => {
      const isBehind = sql`(at, record, sequence) < (${param('at')}, ${param('record')}, ${param('sequence')})`;
      return written(
        db,
        sql`
          select at, record, sequence ${inSpan(param, param('span'))}
          and sequence >= ${param('first')} and at >= ${param('since')} and ${isBehind}
          order by ${order} limit ${param('limit')}`,
      );
    }),
  };
}

const own = updatesBy(OWN);
const through = updatesBy(THROUGH);

/** Updates newest first, as rows of the timeline; fewer than asked for only at the end. */
export async function listUpdates(
  db: Db,
  org: number,
  { subject, isThrough, first: start, last: end, lastAt }: UpdateRange,
  { since, after, limit }: UpdateQuery,
): Promise<TimelineRow[]> {
  const updates = isThrough ? through : own;
  const whole = { first: start, last: end };
  const isLong = hasManySpans(whole) && since > 0;
  const first = isLong ? await findSequenceAt(db, org, whole, since) : start;
  const last = after.at > lastAt ? end : (await findSequenceAt(db, org, whole, after.at + 1)) - 1;
  const kind = storedKind('change', isThrough);
  const rows: TimelineRow[] = [];
  const turns = new TimeSlices();
  for (let span = spanOf(last), lowest = spanOf(first); span >= lowest; ) {
    const from = Math.max(lowest, span - SPANS_AT_ONCE + 1);
    const found = await updates.spans(db, { org, subject, first: from, last: span, limit: FOUND_AT_ONCE });
    for (const { span: next, newest } of found) {
      // What is of one instant can be in several spans.
      if (newest < since || (rows.length >= limit && newest < (rows[limit - 1]?.at ?? 0))) return rows;
      const args = { org, subject, span: next, first, since, ...after, limit };
      for (const row of await updates.rows(db, args))
        rows.push({
          org_id: org,
          subject,
          kind,
          ...row,
          via: isThrough ? row.record : DIRECTLY,
          detail: null,
        });
      rows.sort((a, b) => b.at - a.at || Buffer.compare(b.record, a.record) || b.sequence - a.sequence);
      rows.length = Math.min(rows.length, limit);
    }
    span = (found.length < FOUND_AT_ONCE ? from : (found.at(-1)?.span ?? from)) - 1;
    if (turns.isOver) await turns.next();
  }
  return rows;
}
