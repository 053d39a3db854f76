// Reads the updates on timelines, which are those of the log: by the indexes of its records, and of the companies that these had.

import { type RawBuilder, sql } from 'kysely';
import { CHANGE_ACTIONS } from '../changes/changes.ts';
import type { LogState } from '../changes/log-state.ts';
import { findSequenceAt } from '../changes/places.ts';
import { SPAN_BITS, spanOf } from '../changes/queries.ts';
import type { ChangeRow } from '../engine/change-row.ts';
import type { Eventually } from '../engine/engine.ts';
import type { Db } from '../engine/schema.ts';
import { type Param, statement, written } from '../engine/statement.ts';
import { DIRECTLY, storedKind, type TimelineRow } from '../engine/timeline-row.ts';
import { TimeSlices } from '../event-loop.ts';

/** Where the updates that show on a timeline are looked for. */
export interface UpdateSource {
  subject: Uint8Array;
  /** The part of the log that there is, both ends included, and the instant of its end in Unix milliseconds. */
  log: Pick<LogState, 'first' | 'last' | 'instant'>;
  /** Its own updates are not earlier and not later than these, in Unix milliseconds. */
  createdAt: number;
  updatedAt: number;
  /** Whether updates that show through contacts and deals are wanted, too. */
  isWhole: boolean;
}

/** Which of them to read, newest first. */
interface UpdateQuery {
  /** The first instant, in Unix milliseconds; in a long log it is waited for while other places are looked for. */
  since: Eventually<number>;
  /** What they are behind. */
  after: { at: number; record: Uint8Array; sequence: number };
  limit: number;
}

/** Whether to look into all spans of a part of the log takes longer than to look for a place in it. */
export function hasManySpans({ first, last }: { first: number; last: number }): boolean {
  return spanOf(last) - spanOf(first) >= FEW_SPANS;
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
  source: UpdateSource,
  { since: eventually, after, limit }: UpdateQuery,
): Promise<TimelineRow[]> {
  const { createdAt, updatedAt, isWhole, log } = source;
  const kinds = [
    { isThrough: false, lastAt: updatedAt },
    ...(isWhole ? [{ isThrough: true, lastAt: log.instant }] : []),
  ];
  const endOf = async ({ isThrough, lastAt }: (typeof kinds)[number]) => ({
    isThrough,
    last: await lastBehind(db, org, log, { at: after.at, lastAt }),
  });
  const [since, firstOfAll, ends] = await Promise.all([
    eventually,
    firstSince(db, org, log, createdAt),
    Promise.all(kinds.map(endOf)),
  ]);
  const part = { first: firstOfAll, last: log.last };
  const first = since > createdAt ? await firstSince(db, org, part, since) : firstOfAll;
  const query = { since, after, limit };
  const found = ends.map((end) => updatesIn(db, org, source.subject, { first, ...end }, query));
  return (await Promise.all(found)).flat();
}

/** The first change since an instant; that of the part itself where looking for it takes longer than what it saves. */
function firstSince(
  db: Db,
  org: number,
  part: { first: number; last: number },
  instant: number,
): Eventually<number> {
  return instant > 0 && hasManySpans(part) ? findSequenceAt(db, org, part, instant) : part.first;
}

/** The last change that can be behind a place in time, if none is later than `lastAt`; both in Unix milliseconds. */
export async function lastBehind(
  db: Db,
  org: number,
  log: UpdateSource['log'],
  { at, lastAt }: { at: number; lastAt: number },
): Promise<number> {
  const until = Math.min(at, lastAt);
  if (until >= log.instant || (at > lastAt && !hasManySpans(log))) return log.last;
  return (await findSequenceAt(db, org, log, until + 1)) - 1;
}

/** A part of the log, both ends included. */
interface LogPart {
  first: number;
  last: number;
  /** Whether the updates in it are those of contacts and deals. */
  isThrough: boolean;
}

/** A query whose first instant is known. */
type PlacedQuery = UpdateQuery & { since: number };

async function updatesIn(
  db: Db,
  org: number,
  subject: Uint8Array,
  { first, last, isThrough }: LogPart,
  { since, after, limit }: PlacedQuery,
): Promise<TimelineRow[]> {
  const updates = isThrough ? through : own;
  const kind = storedKind('change', isThrough);
  const rowsOf = async (span: number): Promise<TimelineRow[]> => {
    const rows = await updates.rows(db, { org, subject, span, first, since, ...after, limit });
    return rows.map((row) => ({
      ...{ org_id: org, subject, kind, detail: null, via: isThrough ? row.record : DIRECTLY },
      ...row,
    }));
  };
  // Where each statement is a way to a server and back, spans are read together, though not all may be needed.
  const spansAtOnce = db.engine.answersAtOnce ? 1 : FOUND_AT_ONCE;
  const rows: TimelineRow[] = [];
  const turns = new TimeSlices();
  for (let span = spanOf(last), lowest = spanOf(first); span >= lowest; ) {
    const from = Math.max(lowest, span - SPANS_AT_ONCE + 1);
    const found = await updates.spans(db, { org, subject, first: from, last: span, limit: FOUND_AT_ONCE });
    for (let index = 0; index < found.length; index += spansAtOnce) {
      const newest = found[index]?.newest ?? 0;
      // What is of one instant can be in several spans.
      if (newest < since || (rows.length >= limit && newest < (rows[limit - 1]?.at ?? 0))) return rows;
      const wanted = found.slice(index, index + spansAtOnce).filter((one) => one.newest >= since);
      rows.push(...(await Promise.all(wanted.map((one) => rowsOf(one.span)))).flat());
      rows.sort((a, b) => b.at - a.at || Buffer.compare(b.record, a.record) || b.sequence - a.sequence);
      rows.length = Math.min(rows.length, limit);
    }
    span = (found.length < FOUND_AT_ONCE ? from : (found.at(-1)?.span ?? from)) - 1;
    if (turns.isOver) await turns.next();
  }
  return rows;
}
