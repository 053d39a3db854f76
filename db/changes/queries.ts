// Reads the log of changes: pages in either direction.

import { sql } from 'kysely';
import { BoundedMap } from '../cache.ts';
import type { ChangeRow } from '../engine/change-row.ts';
import type { Db } from '../engine/schema.ts';
import { type Param, type Statement, statement } from '../engine/statement.ts';
import { TimeSlices } from '../event-loop.ts';
import { textBytes } from '../tables/id-bytes.ts';
import type { Direction } from '../tables/list-query.ts';
import { PAGE_BYTES_MAX } from '../tables/page-size.ts';
import { instantOfId } from '../tables/record-id.ts';
import { CHANGE_ACTIONS, CHANGE_RESOURCES, type ChangeAction } from './changes.ts';
import { findSequenceAt } from './places.ts';
import { changesOf } from './runs.ts';

/** Which changes to read; null for any. */
export interface ChangeFilters {
  resources: readonly string[];
  recordId: string | null;
  action: ChangeAction | null;
  request: Uint8Array | null;
}

/** A stretch of the log, both ends included. */
export interface ChangeRange {
  from: number;
  to: number;
}

export interface ChangeQuery extends ChangeFilters, ChangeRange {
  orgNumber: number;
  direction: Direction;
  limit: number;
}

/** Changes in order. */
interface ChangeRows {
  rows: ChangeRow[];
  /** Whether there are fewer than asked for because they are large. */
  isCut: boolean;
}

const CREATED: ChangeAction = 'created';
const CREATED_INDEX = CHANGE_ACTIONS.indexOf(CREATED);
/** The indexes of records are divided into spans of so many changes, a power of two. */
export const SPAN_BITS = 10;
const SPANS_AT_ONCE = 200;
const SHAPES_MAX = 16;
const lists = new BoundedMap<string, Statement<ChangeRow>>(SHAPES_MAX);

// The sequence number of the row that contains a change.
function rowOf(param: Param, name: string) {
  const row = sql`
    select sequence from changes where org_id = ${param('org')} and sequence >= ${param(name)} order by sequence limit 1`;
  return sql<number>`coalesce((${row}), ${param(name)})`;
}

// The changes of a record that the index has: all others than its create.
function isOfRecord(db: Db, param: Param) {
  const bits = sql.lit(SPAN_BITS);
  const [first, last] = [param('from'), param('to')].map((place) => sql`cast(${place} as bigint) >> ${bits}`);
  const spans = sql`(
    with recursive spans (span) as (select ${first} union all select span + 1 from spans where span < ${last})
    select span from spans)`;
  const isInSpan = db.engine.isIn(sql`(sequence >> ${bits})`, spans);
  return sql<boolean>`${isInSpan} and record = ${param('record')} and action <> ${sql.lit(CREATED_INDEX)}`;
}

function listOf(hasRecord: boolean, hasAction: boolean, hasRequest: boolean, direction: Direction) {
  return lists.getOrCompute([hasRecord, hasAction, hasRequest, direction].join(), () =>
    statement<ChangeRow>((db, param) => {
      let query = db
        .selectFrom('changes')
        .selectAll()
        .where('org_id', '=', param('org'))
        .where('sequence', '>=', param('from'))
        .where('sequence', '<=', hasRecord ? param('to') : rowOf(param, 'to'))
        .where(db.engine.isAmong(sql`cast(resource as text)`, param('resources')));
      if (hasRecord) query = query.where(isOfRecord(db, param));
      if (hasAction) query = query.where('action', '=', param('action'));
      if (hasRequest) query = query.where('request', '=', param('request'));
      return query.orderBy('sequence', direction).limit(param('limit'));
    }),
  );
}

/**
 * Changes in order, and whether there are fewer than asked for because they are large. Those of a record are looked for in the
 * whole range, in several turns: the reads after the first turn have a later snapshot.
 */
export async function listChanges(db: Db, query: ChangeQuery): Promise<ChangeRows> {
  const { orgNumber, recordId, from: first, to: last } = query;
  if (recordId === null) return listRows(db, query);
  const instant = instantOfId(recordId);
  if (Number.isNaN(instant)) return listSpans(db, query);
  const from = await findSequenceAt(db, orgNumber, { first, last }, instant);
  return listFrom(db, { ...query, from }, { recordId, instant });
}

// Of a record, from its instant on.
async function listFrom(
  db: Db,
  query: ChangeQuery,
  record: { recordId: string; instant: number },
): Promise<ChangeRows> {
  const { action, direction, limit } = query;
  const found = action === CREATED ? { rows: [], isCut: false } : await listSpans(db, query);
  // Its create is its first change, so that it only follows what is listed to its end.
  const isEnd = !found.isCut && found.rows.length < limit;
  const isWanted = (action === null || action === CREATED) && (direction === 'asc' || isEnd);
  const created = isWanted ? await findCreated(db, query, record) : [];
  const rows = direction === 'asc' ? [...created, ...found.rows] : [...found.rows, ...created];
  return { ...found, rows: rows.slice(0, limit) };
}

// The changes of a record, except its create.
async function listSpans(db: Db, query: ChangeQuery): Promise<ChangeRows> {
  const { direction, limit } = query;
  const rows: ChangeRow[] = [];
  const turns = new TimeSlices();
  let { from, to } = query;
  while (from <= to) {
    const part =
      direction === 'asc'
        ? { from, to: Math.min(to, endOf(from)) }
        : { from: Math.max(from, startOf(to)), to };
    const found = await listRows(db, { ...query, ...part, limit: limit - rows.length });
    rows.push(...found.rows);
    const isCut = found.isCut || charactersOf(rows) > PAGE_BYTES_MAX;
    if (isCut || rows.length === limit) return { rows, isCut };
    if (direction === 'asc') from = part.to + 1;
    else to = part.from - 1;
    if (turns.isOver) await turns.next();
  }
  return { rows, isCut: false };
}

/** The span of a change. */
export const spanOf = (sequence: number): number => Math.floor(sequence / 2 ** SPAN_BITS);
// The ends of the spans that are read together with that of a change.
const endOf = (first: number) => (spanOf(first) + SPANS_AT_ONCE) * 2 ** SPAN_BITS - 1;
const startOf = (last: number) => (spanOf(last) - SPANS_AT_ONCE + 1) * 2 ** SPAN_BITS;

function charactersOf(rows: readonly ChangeRow[]): number {
  return rows.reduce((sum, { data }) => sum + (data?.length ?? 0), 0);
}

async function listRows(db: Db, query: ChangeQuery): Promise<ChangeRows> {
  const { orgNumber, resources, recordId, action, request, direction, from, to, limit } = query;
  const list = listOf(recordId !== null, action !== null, request !== null, direction);
  const args = {
    ...{ org: orgNumber, from, to, limit, request },
    resources: JSON.stringify(resources.map((name) => String(CHANGE_RESOURCES.indexOf(name)))),
    record: recordId === null ? null : textBytes(recordId),
    action: action === null ? null : CHANGE_ACTIONS.indexOf(action),
  };
  const changes: ChangeRow[] = [];
  let characters = 0;
  let isCut = false;
  await list(db, args, (row) => {
    if (changes.length >= limit) return false;
    isCut = characters > PAGE_BYTES_MAX;
    if (isCut) return false;
    characters += row.data?.length ?? 0;
    changes.push(...changesOf(row, query));
    return true;
  });
  return { rows: changes.slice(0, limit), isCut };
}

const numbered = statement<ChangeRow>((db, param) =>
  db
    .selectFrom('changes')
    .selectAll()
    .where('org_id', '=', param('org'))
    .where(db.engine.isAmongNumbers(sql.ref('sequence'), param('sequences'))),
);

/** The updates with these sequence numbers, as far as the log contains them, in no order. */
export async function findUpdates(
  db: Db,
  orgNumber: number,
  sequences: readonly number[],
): Promise<ChangeRow[]> {
  if (sequences.length === 0) return [];
  return numbered(db, { org: orgNumber, sequences: JSON.stringify(sequences.map(String)) });
}

const creates = statement<ChangeRow>((db, param) =>
  db
    .selectFrom('changes')
    .selectAll()
    .where('org_id', '=', param('org'))
    .where('sequence', '>=', param('from'))
    .where('sequence', '<=', rowOf(param, 'to'))
    .where('action', '=', sql.lit(CREATED_INDEX))
    .orderBy('sequence'),
);

// The change that created a record, if it is wanted: among those of its instant.
async function findCreated(
  db: Db,
  { orgNumber, resources, request, from, to: last }: ChangeQuery,
  { recordId, instant }: { recordId: string; instant: number },
): Promise<ChangeRow[]> {
  const to = (await findSequenceAt(db, orgNumber, { first: from, last }, instant + 1)) - 1;
  if (from > to) return [];
  const id = textBytes(recordId);
  let found: ChangeRow[] = [];
  await creates(db, { org: orgNumber, from, to }, (row) => {
    const isIn = Buffer.from(row.record).includes(id);
    const changes = isIn ? changesOf(row, { from, to, direction: 'asc' }) : [];
    found = changes.filter(({ record }) => Buffer.compare(record, id) === 0);
    return found.length === 0;
  });
  return found.filter(
    (row) =>
      resources.includes(CHANGE_RESOURCES[row.resource] ?? '') &&
      (request === null || (row.request !== null && Buffer.compare(row.request, request) === 0)),
  );
}
