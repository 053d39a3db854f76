// From what the timelines of an older database are built: its records and links, and the log of changes as far as that is kept.

import { sql } from 'kysely';
import { CHANGE_ACTIONS, CHANGE_RESOURCES } from '../changes/changes.ts';
import type { UpdateValues } from '../changes/logged-values.ts';
import type { ChangeRow } from '../engine/change-row.ts';
import { type Db, type RecordRow, type Trx, tableOf } from '../engine/schema.ts';
import { statement, written } from '../engine/statement.ts';
import { childOf } from '../model/links.ts';
import type { Resource, Row } from '../model/resource.ts';
import { bookings } from '../model/resources/bookings.ts';
import { deals } from '../model/resources/deals.ts';
import { interactions } from '../model/resources/interactions.ts';
import { kindOf, type LinkKind } from '../model/resources/link-kinds.ts';
import { meetings } from '../model/resources/meetings.ts';
import { notes } from '../model/resources/notes.ts';
import { tasks } from '../model/resources/tasks.ts';
import { hasTimeline } from '../model/timelines.ts';
import { columnsOf } from '../tables/columns.ts';
import { idOfBytes } from '../tables/id-bytes.ts';
import { listInvolved } from '../tables/involved-records.ts';
import type { NewEntry, Subject } from './entries.ts';
import { LINKED } from './links.ts';
import { entriesAt, placesOf } from './places.ts';
import { type MovedDeal, stageEntries } from './stages.ts';

/** Some of the rows of a source, in order. */
interface SourceRows {
  /** Number of rows. */
  read: number;
  /** The key of the last of them; null at the end. */
  last: string | null;
  entries: NewEntry[];
}

/** What entries are made of. */
export interface TimelineSource {
  /** The table that is read. */
  table: string;
  /** Reads rows after a key, at most so many; an empty key for the first ones. */
  read(trx: Trx, orgNumber: number, after: string, limit: number): Promise<SourceRows>;
}

function pageOf<R>(
  rows: readonly R[],
  limit: number,
  keyOf: (row: R) => string,
  entries: NewEntry[],
): SourceRows {
  const end = rows.at(-1);
  return {
    read: rows.length,
    last: end === undefined || rows.length < limit ? null : keyOf(end),
    entries,
  };
}

function recordsOf(
  resource: Resource,
  entriesOf: (trx: Trx, orgNumber: number, rows: readonly RecordRow[]) => Promise<NewEntry[]> | NewEntry[],
): TimelineSource {
  const list = statement<RecordRow>((db, param) =>
    db
      .selectFrom(tableOf(resource))
      .select(columnsOf(resource))
      .$castTo<RecordRow>()
      .where('org_id', '=', param('org'))
      .where('id', '>', param('after'))
      .orderBy('id')
      .limit(param('limit')),
  );
  return {
    table: resource.name,
    async read(trx, org, after, limit) {
      const rows = await list(trx, { org, after, limit });
      return pageOf(rows, limit, ({ id }) => id, await entriesOf(trx, org, rows));
    },
  };
}

const bySelf = (resource: Resource): TimelineSource =>
  recordsOf(resource, (_, __, rows) =>
    rows.flatMap((row) => {
      const places = placesOf(resource, row);
      return places === undefined ? [] : entriesAt(row.id, places);
    }),
  );

const ofInteractions = recordsOf(interactions, async (trx, orgNumber, rows) => {
  const ids = rows.map(({ id }) => id);
  const { contactIds, companyIds } = await listInvolved(trx, orgNumber, ids);
  return rows.flatMap(({ id, interaction_date }) => {
    const subjects: Subject[] = [
      ...(contactIds.get(id) ?? []).map((one) => ({ on: 'contacts', id: one }) as const),
      ...(companyIds.get(id) ?? []).map((one) => ({ on: 'companies', id: one }) as const),
    ];
    const entry = { kind: 'interaction', at: Number(interaction_date), record: id, sequence: 0 } as const;
    return subjects.map((subject) => ({ ...entry, subject }));
  });
});

type LinkedRow = Row & { parent_id: string; child_id: string; created_at: number };

function linksOf({ link, parent }: LinkKind): TimelineSource {
  const kind = LINKED[parent.name] ?? 'deal';
  const of = (name: string) => sql.ref(`tie.${name}`);
  const key = sql`${of(link.parentColumn)}, ${of(link.childColumn)}`;
  const type = link.typedBy === 'link' ? sql`, tie.record_type` : sql``;
  const created = sql`
    (select created_at from ${sql.table(parent.name)} as record
    where record.org_id = tie.org_id and record.id = ${of(link.parentColumn)})`;
  const list = statement<LinkedRow>((db, param) =>
    written(
      db,
      sql<LinkedRow>`
        select ${of(link.parentColumn)} as parent_id, ${of(link.childColumn)} as child_id, ${created} as created_at ${type}
        from ${sql.table(link.table)} as tie
        where tie.org_id = ${param('org')} and (${key}) > (${param('parent')}, ${param('child')})
        order by ${key} limit ${param('limit')}`,
    ),
  );
  return {
    table: link.table,
    async read(trx, org, after, limit) {
      const [parent_id = '', child_id = ''] = after.split(' ');
      const rows = await list(trx, { org, parent: parent_id, child: child_id, limit });
      const entries = rows.flatMap((row): NewEntry[] => {
        const on = childOf(link, { link: row }) ?? '';
        if (!hasTimeline(on)) return [];
        const subject = { on, id: row.child_id };
        return [{ subject, kind, at: row.created_at, record: row.parent_id, sequence: 0 }];
      });
      return pageOf(rows, limit, (row) => `${row.parent_id} ${row.child_id}`, entries);
    },
  };
}

const logged = statement<ChangeRow>((db, param) =>
  db
    .selectFrom('changes')
    .selectAll()
    .where('org_id', '=', param('org'))
    .where('sequence', '>', param('after'))
    .orderBy('sequence')
    .limit(param('limit')),
);

const UPDATED = CHANGE_ACTIONS.indexOf('updated');

// The stages of deals.
const ofChanges: TimelineSource = {
  table: 'changes',
  async read(trx, org, after, limit) {
    const rows = await logged(trx, { org, after: Number(after), limit });
    const moved: MovedDeal[] = [];
    for (const { action, resource, at, sequence, record, data } of rows) {
      if (action !== UPDATED || CHANGE_RESOURCES[resource] !== deals.name) continue;
      const { before, after } = (data === null ? {} : JSON.parse(data)) as Partial<UpdateValues>;
      const [from, to] = [before?.stage_id, after?.stage_id];
      if (typeof from !== 'string' || typeof to !== 'string') continue;
      moved.push({ id: idOfBytes(record), from, to, contact: undefined, sequence, at });
    }
    const stages = await stageEntries(trx, org, moved);
    return pageOf(rows, limit, ({ sequence }) => String(sequence), stages);
  },
};

/** In order. */
export const TIMELINE_SOURCES: readonly TimelineSource[] = [
  bySelf(deals),
  ...[notes, deals].flatMap(({ links }) => Object.values(links).map((link) => linksOf(kindOf(link)))),
  ...[tasks, meetings, bookings].map(bySelf),
  ofInteractions,
  ofChanges,
];

/** Number of rows in a table that belong to an organization. */
export async function countSourceRows(db: Db, orgNumber: number, table: string): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from ${sql.table(table)} where org_id = ${orgNumber}`.execute(db);
  return Number(rows[0]?.total ?? 0);
}
