// Brings the search index up to date with what writes have noted.

import { sql } from 'kysely';
import type { Db, Trx } from '../engine/schema.ts';
import type { PendingRecord, SearchPendingRow } from '../engine/search-rows.ts';
import { statement } from '../engine/statement.ts';
import { nextTurn, TimeSlices } from '../event-loop.ts';
import type { Row } from '../model/resource.ts';
import { instantOfId } from '../tables/record-id.ts';
import { IndexChanges } from './additions.ts';
import { mergeSome, RUNS_WHILE_INDEXING } from './merges.ts';
import { placeOfId } from './places.ts';
import { RecordLists, type WrittenRecord } from './record-lists.ts';
import { findIndexedRecords, searchedResource } from './resources.ts';

const allPending = statement<Pick<SearchPendingRow, 'entries'>>((db, param) =>
  db.selectFrom('search_pending').select('entries').where('org_id', '=', param('org')),
);

/** The IDs of all records that the index does not have as they are now. */
export async function findPendingIds(db: Db, orgNumber: number): Promise<string[]> {
  return (await allPending(db, { org: orgNumber })).flatMap(entriesOf).map(([, id]) => id);
}

const total = statement<{ records: number | null }>((db) =>
  db.selectFrom('search_pending').select((eb) => eb.fn.sum<number | null>('records').as('records')),
);

/** How many records are pending, in all organizations; one that was written twice counts twice. */
export async function countPending(db: Db): Promise<number> {
  return Number((await total(db, {}))[0]?.records ?? 0);
}

function entriesOf({ entries }: Pick<SearchPendingRow, 'entries'>): PendingRecord[] {
  return JSON.parse(entries);
}

const removal = statement<never>((db, param) =>
  db
    .deleteFrom('search_pending')
    .where('org_id', '=', param('org'))
    .where(db.engine.isAmong(sql.ref('id'), param('ids'))),
);

const rest = statement<never>((db, param) =>
  db
    .updateTable('search_pending')
    .set({ records: param('records'), entries: param('entries') })
    .where('org_id', '=', param('org'))
    .where('id', '=', param('id')),
);

// They take about fifteen milliseconds. A record can have a hundred thousand words, and other writes wait.
const ROWS_AT_ONCE = 1_000;
const RECORDS_AT_ONCE = 1_000;
const ENTRIES_AT_ONCE = 20_000;
const READ_AT_ONCE = 50;
const RECORDS_PER_LOOK = 8;
const MERGES_PER_PIECE = 4;

const organizations = statement<{ org_id: number }>((db) =>
  db
    .selectFrom('org_clocks as clock')
    .select('clock.org_id')
    .where((eb) =>
      eb.exists(
        eb.selectFrom('search_pending').select('id').whereRef('search_pending.org_id', '=', 'clock.org_id'),
      ),
    ),
);

/** The organizations for which something is pending. */
export async function findPendingOrganizations(db: Db): Promise<number[]> {
  return (await organizations(db, {})).map(({ org_id }) => org_id);
}

const edgePending = (direction: 'asc' | 'desc') =>
  statement<{ id: string }>((db, param) =>
    db
      .selectFrom('search_pending')
      .select('id')
      .where('org_id', '=', param('org'))
      .orderBy('id', direction)
      .limit(1),
  );
const firstPending = edgePending('asc');
const lastPending = edgePending('desc');

/**
 * When the first and the last of what is pending were written, in Unix milliseconds by the clocks of the writing processes; 0
 * for nothing.
 */
export async function findPendingTimes(db: Db, orgNumber: number): Promise<{ first: number; last: number }> {
  const [first, last] = await Promise.all([
    firstPending(db, { org: orgNumber }),
    lastPending(db, { org: orgNumber }),
  ]);
  const timeOf = ([row]: readonly { id: string }[]) => (row === undefined ? 0 : instantOfId(row.id));
  return { first: timeOf(first), last: timeOf(last) };
}

const sizesOf = statement<Pick<SearchPendingRow, 'id' | 'records'>>((db, param) =>
  db
    .selectFrom('search_pending')
    .select(['id', 'records'])
    .where('org_id', '=', param('org'))
    .orderBy('id')
    .limit(param('limit')),
);

const upTo = statement<SearchPendingRow>((db, param) =>
  db
    .selectFrom('search_pending')
    .selectAll()
    .where('org_id', '=', param('org'))
    .where('id', '<=', param('last'))
    .orderBy('id'),
);

/** Indexes some of what is pending, at most a thousand records; returns whether there is more. */
export async function indexPending(trx: Trx, orgNumber: number): Promise<boolean> {
  const sizes = await sizesOf(trx, { org: orgNumber, limit: ROWS_AT_ONCE + 1 });
  let last = '';
  let count = 0;
  let records = 0;
  for (const row of sizes.slice(0, ROWS_AT_ONCE)) {
    if (count > 0 && records + row.records > RECORDS_AT_ONCE) break;
    last = row.id;
    count += 1;
    records += row.records;
  }
  if (count === 0) return false;
  const rows = await upTo(trx, { org: orgNumber, last });
  const areAll = count === sizes.length;
  const entries = rows.map(entriesOf);
  const indexed = await indexRecords(trx, orgNumber, entries.flat(), areAll);
  const finished: string[] = [];
  for (const [index, { id }] of rows.entries()) {
    const left = (entries[index] ?? []).filter(([, record]) => !indexed.has(record));
    if (left.length === 0) finished.push(id);
    else await rest(trx, { org: orgNumber, id, records: left.length, entries: JSON.stringify(left) });
  }
  await removal(trx, { org: orgNumber, ids: JSON.stringify(finished) });
  for (let merges = 0; merges < MERGES_PER_PIECE; merges++) {
    await nextTurn();
    if (!(await mergeSome(trx, orgNumber, RUNS_WHILE_INDEXING))) break;
  }
  return finished.length < sizes.length;
}

// Returns the IDs of those that the index has now as they are: fewer if they have many words.
async function indexRecords(
  trx: Trx,
  orgNumber: number,
  entries: readonly PendingRecord[],
  areAll: boolean,
): Promise<ReadonlySet<string>> {
  const changes = new IndexChanges();
  const indexed = new Set<string>();
  const turns = new TimeSlices();
  const lists = new RecordLists(changes, turns);
  for (const [number, some] of Map.groupBy(entries, ([resource]) => resource)) {
    const resource = searchedResource(number);
    const notes = Map.groupBy(some, ([, id]) => id);
    const ids = [...notes.keys()];
    for (let from = 0; from < ids.length && changes.size < ENTRIES_AT_ONCE; from += READ_AT_ONCE) {
      const part = ids.slice(from, from + READ_AT_ONCE);
      const rows = await findIndexedRecords(trx, resource, orgNumber, part);
      for (const id of part) {
        if (changes.size >= ENTRIES_AT_ONCE) break;
        const written = writtenRecord(rows.get(id) ?? null, notes.get(id) ?? [], areAll);
        await lists.change({ ...placeOfId(id), resource: number }, resource, written);
        indexed.add(id);
        if (indexed.size % RECORDS_PER_LOOK === 0 && turns.isOver) await turns.next();
      }
    }
  }
  if (turns.isOver) await turns.next();
  await changes.save(trx, orgNumber);
  return indexed;
}

function writtenRecord(row: Row | null, notes: readonly PendingRecord[], areAll: boolean): WrittenRecord {
  const befores = notes.flatMap(([, , before]) => (before === undefined ? [] : [before]));
  const isNew = befores.length < notes.length;
  // A piece before this one may have seen what a later change made of the record.
  return { row, befores, isNew, isKnown: areAll && !isNew && befores.length === 1 };
}
