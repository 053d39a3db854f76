// The IDs of records that are related to those of a page, newest first, each record's by itself.

import { type RawBuilder, sql } from 'kysely';
import { memoize } from '../cache.ts';
import type { Eventually } from '../engine/engine.ts';
import type { Db } from '../engine/schema.ts';
import { type Param, type Statement, statement, written } from '../engine/statement.ts';
import { TimeSlices } from '../event-loop.ts';
import { RELATED_MAX, type Resource } from '../model/resource.ts';
import type { Include } from '../model/resources/includes.ts';
import type { Way } from '../model/resources/relations.ts';

/** How many of them are looked at for those that a user can see, or that are of one type. */
export const RELATED_EXAMINED_MAX = 1_000;
// So many records, with as many related ones as are looked at, take up to 40 ms.
const SIFTED_AT_ONCE = 25;

/** The IDs of the newest records that each record includes, newest first, except those that it refers to itself. */
export async function listRelatedIds(
  db: Db,
  include: Include,
  { orgNumber, ownerId }: { orgNumber: number; ownerId: string | null },
  ids: readonly string[],
): Promise<ReadonlyMap<string, string[]>> {
  const found = new Map<string, string[]>();
  const statements = statementsOf(include);
  if (statements.length === 0) return found;
  const isSifted = ownerId !== null;
  const atOnce = isSifted ? SIFTED_AT_ONCE : Math.max(ids.length, 1);
  const turns = new TimeSlices();
  for (let from = 0; from < ids.length; from += atOnce) {
    const some = JSON.stringify(ids.slice(from, from + atOnce));
    const args = { org: orgNumber, owner: ownerId, ids: some };
    const asked: Eventually<RelatedRow[]>[] = [];
    for (const { all, visible } of statements) {
      if (turns.isOver) await turns.next();
      asked.push((isSifted ? visible : all)(db, args));
    }
    for (const rows of await Promise.all(asked)) addAll(found, rows);
  }
  return found;
}

/** The IDs to which a way leads from a record, in one text; null for none. */
interface RelatedRow {
  id: string;
  related: string | null;
}

function addAll(found: Map<string, string[]>, rows: readonly RelatedRow[]): void {
  for (const { id, related } of rows) {
    if (related === null) continue;
    const known = found.get(id);
    const ids = related.split(' ');
    if (known === undefined && ids.length === 1) found.set(id, ids);
    else found.set(id, idsNewestFirst(new Set([...(known ?? []), ...ids])).slice(0, RELATED_MAX));
  }
}

/** The IDs of records, newest first. */
export function idsNewestFirst(ids: Iterable<string>): string[] {
  return [...ids].sort((a, b) => (a < b ? 1 : -1));
}

interface Statements {
  all: Statement<RelatedRow>;
  /** Only those that an owner has. */
  visible: Statement<RelatedRow>;
}

const statementsOf = memoize(({ resource, ways }: Include): Statements[] =>
  ways.flatMap((way) => {
    if (way.kind === 'own' || resource === null) return [];
    const make = (isSifted: boolean) =>
      statement<RelatedRow>((db, param) => build(db, { resource, way, isSifted }, param));
    return [{ all: make(false), visible: make(true) }];
  }),
);

interface Lookup {
  resource: Resource;
  way: Way;
  isSifted: boolean;
}

function build(db: Db, lookup: Lookup, param: Param) {
  const related = sql`(select string_agg(near.id, ' ') from (${nearest(lookup, param)}) as near)`;
  return written<RelatedRow>(
    db,
    sql`select given.text as id, ${related} as related from ${db.engine.texts(param('ids'))} as given`,
  );
}

// The newest for one of the given records, which an index has in this order.
function nearest(lookup: Lookup, param: Param): RawBuilder<unknown> {
  const { table, own, other } = lookup.way;
  const { columns, holds } = sieveOf(lookup, param);
  const id = sql.ref(`link.${other}`);
  const rows = sql`select ${sql.join([sql`${id} as id`, ...columns])} from ${sql.table(table)} as link
    where link.org_id = ${param('org')} and ${sql.ref(`link.${own}`)} = given.text order by ${id} desc`;
  if (holds.length === 0) return sql`${rows} limit ${sql.lit(RELATED_MAX)}`;
  return sql`select newest.id from (${rows} limit ${sql.lit(RELATED_EXAMINED_MAX)}) as newest
    where ${sql.join(holds, sql` and `)} order by newest.id desc limit ${sql.lit(RELATED_MAX)}`;
}

/** Which of the newest are wanted. */
interface Sieve {
  /** What is read for it. */
  columns: RawBuilder<unknown>[];
  holds: RawBuilder<unknown>[];
}

function sieveOf({ resource, way, isSifted }: Lookup, param: Param): Sieve {
  const sieve: Sieve = { columns: [], holds: [] };
  if (way.type !== null) {
    sieve.columns.push(sql`link.record_type as type`);
    sieve.holds.push(sql`newest.type = ${sql.lit(way.type)}`);
  }
  const { name, owner } = resource;
  if (!isSifted || owner === null) return sieve;
  if (way.kind === 'inverse') {
    sieve.columns.push(sql`${sql.ref(`link.${owner}`)} as owner`);
    sieve.holds.push(sql`newest.owner = ${param('owner')}`);
  } else {
    const isOwned = sql`${sql.ref(`record.${owner}`)} = ${param('owner')}`;
    const isRecord = sql`record.org_id = ${param('org')} and record.id = newest.id`;
    sieve.holds.push(
      sql`exists (select 1 from ${sql.table(name)} as record where ${isRecord} and ${isOwned})`,
    );
  }
  return sieve;
}
