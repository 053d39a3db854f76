// Looks up which records meet the conditions of a filter on links; those to records that a key cannot see count as absent.
import { type RawBuilder, sql } from 'kysely';
import { BoundedMap } from '../cache.ts';
import type { Db } from '../engine/schema.ts';
import { type Param, type Statement, statement, written } from '../engine/statement.ts';
import type { Condition } from '../model/query/filter.ts';
import type { LinkedIds } from '../model/query/predicate.ts';
import type { Resource } from '../model/resource.ts';
import type { Way } from '../model/resources/relations.ts';
import type { Examination } from './examination.ts';
import { hasVisibleLink, type OwnedRecords } from './visible-links.ts';

/** Whose links are looked at. */
export interface LinkReader {
  org: number;
  /** The user that a key is bound to; null for all of the organization. */
  userId: string | null;
}

// So many links of a record are looked at together with those of others; the rest, if it matters, by itself.
const LINKS_AT_ONCE = 20;

/** A condition on links, with what is needed to look it up. */
export interface LinkCondition {
  condition: Condition;
  resource: Resource;
  ways: readonly Way[];
}

/** The conditions on links among those of a filter. */
export function linkConditions(resource: Resource, conditions: readonly Condition[]): LinkCondition[] {
  return conditions.flatMap((condition) => {
    const { relation } = condition.field;
    return relation === null ? [] : [{ condition, resource, ways: relation.ways }];
  });
}

/** At most how many entries are examined to look up the conditions for one record. */
export function entriesPerRecord(conditions: readonly LinkCondition[], { userId }: LinkReader): number {
  let entries = 0;
  for (const { condition, ways } of conditions) {
    const { operator, values } = condition;
    for (const way of ways) {
      if (operator !== 'is_null') entries += values.length;
      else entries += needsSifting(condition, way, userId) ? LINKS_AT_ONCE : 1;
    }
  }
  return entries;
}

/** For each condition, which of the records meet it. */
export async function findLinked(
  db: Db,
  reader: LinkReader,
  conditions: readonly LinkCondition[],
  ids: readonly string[],
  examination: Examination,
): Promise<LinkedIds> {
  const found = new Map<Condition, ReadonlySet<string>>();
  for (const one of conditions) {
    const { condition } = one;
    const linked =
      condition.operator === 'is_null'
        ? await findWithLinks(db, reader, one, ids, examination)
        : await findLinkedTo(db, reader, one, ids);
    const isUnlinked = condition.operator === 'is_null' && condition.values[0] === true;
    found.set(condition, isUnlinked ? new Set(ids).difference(linked) : linked);
  }
  examination.add(ids.length * entriesPerRecord(conditions, reader));
  return found;
}

type OwnRow = { own: string };
const SHAPES_MAX = 100;
const pairStatements = new BoundedMap<string, Statement<OwnRow>>(SHAPES_MAX);
const PAIRS_AT_ONCE = 2_000;

// Those with a link to one of the given records, without the hidden ones.
async function findLinkedTo(
  db: Db,
  { org }: LinkReader,
  { condition, ways }: LinkCondition,
  ids: readonly string[],
): Promise<Set<string>> {
  const found = new Set<string>();
  for (const way of ways) {
    const pairs = ids.flatMap((id) => condition.values.map((other) => [id, other]));
    for (let from = 0; from < pairs.length; from += PAIRS_AT_ONCE) {
      const some = JSON.stringify(pairs.slice(from, from + PAIRS_AT_ONCE));
      for (const { own } of await pairsOf(way)(db, { org, pairs: some, type: way.type })) found.add(own);
    }
  }
  return found;
}

function pairsOf({ table, own, other, type }: Way): Statement<OwnRow> {
  return pairStatements.getOrCompute(JSON.stringify([table, own, other, type === null]), () =>
    statement<OwnRow>((db, param) => {
      const columns = { table, first: own, second: other };
      const isGiven = db.engine.isPairAmong(columns, param('org'), param('pairs'));
      const ofType = type === null ? sql`` : sql` and record_type = ${param('type')}`;
      return written(
        db,
        sql<OwnRow>`select ${sql.ref(own)} as own from ${sql.table(table)}
          where org_id = ${param('org')} and ${isGiven}${ofType}`,
      );
    }),
  );
}

/** Whether links have to be looked at one after the other for one that counts. */
function needsSifting(condition: Condition, { type }: Way, userId: string | null): boolean {
  return condition.field.family === 'link' && (type !== null || ownedAt(condition, userId) !== null);
}

/** The records at the other end of links, if only those of the user count. */
function ownedAt({ field: { family, relation } }: Condition, userId: string | null): OwnedRecords | null {
  const { name: table = '', owner = null } = relation?.target ?? {};
  return family !== 'link' || userId === null || owner === null ? null : { table, owner };
}

type LinkedRow = { own: string; is_found: number; has_more: number };
const linkStatements = new BoundedMap<string, Statement<LinkedRow>>(SHAPES_MAX);

// Those with any link that counts.
async function findWithLinks(
  db: Db,
  reader: LinkReader,
  { condition, resource, ways }: LinkCondition,
  ids: readonly string[],
  examination: Examination,
): Promise<Set<string>> {
  const { org, userId } = reader;
  const found = new Set<string>();
  const list = JSON.stringify(ids);
  const owned = ownedAt(condition, userId);
  for (const way of ways) {
    const isSifted = needsSifting(condition, way, userId);
    const run = linksOf(resource, way, owned, isSifted);
    const rows = await run(db, { org, ids: list, type: way.type, user: userId });
    for (const { own, is_found, has_more } of rows) {
      if (found.has(own)) continue;
      if (is_found === 1) found.add(own);
      else if (isSifted && has_more === 1) {
        const counts = await hasVisibleLink(db, { org, way, owned, userId, own }, examination);
        if (counts) found.add(own);
      }
    }
  }
  return found;
}

function linksOf(
  resource: Resource,
  way: Way,
  owned: OwnedRecords | null,
  isSifted: boolean,
): Statement<LinkedRow> {
  const shape = JSON.stringify([
    resource.name,
    way.table,
    way.own,
    way.other,
    way.type === null,
    owned,
    isSifted,
  ]);
  return linkStatements.getOrCompute(shape, () =>
    statement<LinkedRow>((db, param) => {
      const first = firstLinks(way, param);
      const isOfType = way.type === null ? sql`true` : sql`few.type = ${param('type')}`;
      const isVisible = owned === null ? sql`few.other is not null` : isOwned(owned, param);
      const counts = sql`select 1 from (${first}) as few where ${isOfType} and ${isVisible} limit 1`;
      const more = isSifted
        ? sql`(select 1 from ${sql.table(way.table)} as link where ${isOf(way, param)} order by ${otherOf(way)} limit 1 offset ${sql.lit(LINKS_AT_ONCE)})`
        : sql`null`;
      return written(
        db,
        sql<LinkedRow>`select record.id as own, coalesce((${counts}), 0) as is_found, coalesce(${more}, 0) as has_more
          from ${sql.table(resource.name)} as record
          where record.org_id = ${param('org')} and ${db.engine.isAmong(sql.ref('record.id'), param('ids'))}`,
      );
    }),
  );
}

function firstLinks(way: Way, param: Param): RawBuilder<unknown> {
  const type = way.type === null ? sql`` : sql`, link.record_type as type`;
  return sql`select ${otherOf(way)} as other${type} from ${sql.table(way.table)} as link
    where ${isOf(way, param)} order by ${otherOf(way)} limit ${sql.lit(LINKS_AT_ONCE)}`;
}

// In the order of the index, so that every plan goes by it.
function otherOf({ other }: Way): RawBuilder<unknown> {
  return sql.ref(`link.${other}`);
}

// Each is looked up by itself: a plan could go through all records instead.
function isOwned({ table, owner }: OwnedRecords, param: Param): RawBuilder<unknown> {
  return sql`(select 1 from ${sql.table(table)} as child where child.org_id = ${param('org')}
    and child.id = few.other and ${sql.ref(`child.${owner}`)} = ${param('user')}) is not null`;
}

function isOf({ own }: Way, param: Param): RawBuilder<unknown> {
  return sql`link.org_id = ${param('org')} and ${sql.ref(`link.${own}`)} = record.id`;
}
