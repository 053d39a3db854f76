// Looks up which records meet the conditions of a filter on links; ends that a key cannot see count as absent.
import { type RawBuilder, sql } from 'kysely';
import { BoundedMap } from '../cache.ts';
import type { Db } from '../engine/schema.ts';
import { type Param, type Statement, statement, written } from '../engine/statement.ts';
import type { Condition } from '../model/query/filter.ts';
import type { LinkedIds } from '../model/query/predicate.ts';
import type { Resource } from '../model/resource.ts';
import { type EndTable, endTablesOf, type OwnedEnd } from './end-tables.ts';
import type { Examination } from './examination.ts';
import { findVisibleEnd } from './visible-ends.ts';

/** Whose links are looked at. */
export interface LinkReader {
  org: number;
  /** The user that a key is bound to; null for all of the organization. */
  userId: string | null;
}

// So many links of a record are looked at together with those of others; the rest, if it matters, by itself.
const ENDS_AT_ONCE = 20;

/** A condition on links, with what is needed to look it up. */
export interface LinkCondition {
  condition: Condition;
  resource: Resource;
  ties: readonly EndTable[];
}

/** The conditions on links among those of a filter. */
export function linkConditions(resource: Resource, conditions: readonly Condition[]): LinkCondition[] {
  return conditions.flatMap((condition) => {
    const { relation } = condition.field;
    return relation === null ? [] : [{ condition, resource, ties: endTablesOf(resource, relation) }];
  });
}

/** At most how many entries are examined to look up the conditions for one record. */
export function entriesPerRecord(conditions: readonly LinkCondition[], { userId }: LinkReader): number {
  let entries = 0;
  for (const { condition, ties } of conditions) {
    const { operator, values } = condition;
    for (const tie of ties) {
      if (operator !== 'is_null') entries += values.length;
      else entries += needsSifting(condition, tie, userId) ? ENDS_AT_ONCE : 1;
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
        ? await findWithEnds(db, reader, one, ids, examination)
        : await findTied(db, reader, one, ids);
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
async function findTied(
  db: Db,
  { org }: LinkReader,
  { condition, ties }: LinkCondition,
  ids: readonly string[],
): Promise<Set<string>> {
  const found = new Set<string>();
  for (const tie of ties) {
    const pairs = ids.flatMap((id) => condition.values.map((other) => [id, other]));
    for (let from = 0; from < pairs.length; from += PAIRS_AT_ONCE) {
      const some = JSON.stringify(pairs.slice(from, from + PAIRS_AT_ONCE));
      for (const { own } of await pairsOf(tie)(db, { org, pairs: some, type: tie.type })) found.add(own);
    }
  }
  return found;
}

function pairsOf({ table, own, other, type }: EndTable): Statement<OwnRow> {
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
function needsSifting({ field }: Condition, { type }: EndTable, userId: string | null): boolean {
  if (field.family !== 'link') return false;
  const owner = field.relation?.target.owner ?? null;
  return type !== null || (userId !== null && owner !== null);
}

type EndRow = { own: string; is_found: number; has_more: number };
const endStatements = new BoundedMap<string, Statement<EndRow>>(SHAPES_MAX);

// Those with any link that counts.
async function findWithEnds(
  db: Db,
  reader: LinkReader,
  { condition, resource, ties }: LinkCondition,
  ids: readonly string[],
  examination: Examination,
): Promise<Set<string>> {
  const { org, userId } = reader;
  const found = new Set<string>();
  const list = JSON.stringify(ids);
  for (const tie of ties) {
    const target = condition.field.relation?.target;
    const isOwned = condition.field.family === 'link' && userId !== null && (target?.owner ?? null) !== null;
    const child = isOwned && target !== undefined ? { table: target.name, owner: target.owner ?? '' } : null;
    const isSifted = needsSifting(condition, tie, userId);
    const run = endsOf(resource, tie, child, isSifted);
    const rows = await run(db, { org, ids: list, type: tie.type, user: userId });
    for (const { own, is_found, has_more } of rows) {
      if (found.has(own)) continue;
      if (is_found === 1) found.add(own);
      else if (isSifted && has_more === 1) {
        const hasEnd = await findVisibleEnd(db, { org, tie, child, userId, own }, examination);
        if (hasEnd) found.add(own);
      }
    }
  }
  return found;
}

function endsOf(
  resource: Resource,
  tie: EndTable,
  child: OwnedEnd | null,
  isSifted: boolean,
): Statement<EndRow> {
  const shape = JSON.stringify([
    resource.name,
    tie.table,
    tie.own,
    tie.other,
    tie.type === null,
    child,
    isSifted,
  ]);
  return endStatements.getOrCompute(shape, () =>
    statement<EndRow>((db, param) => {
      const first = firstEnds(tie, param);
      const isOfType = tie.type === null ? sql`true` : sql`few.type = ${param('type')}`;
      const isVisible = child === null ? sql`few.other is not null` : isOwned(child, param);
      const counts = sql`select 1 from (${first}) as few where ${isOfType} and ${isVisible} limit 1`;
      const more = isSifted
        ? sql`(select 1 from ${sql.table(tie.table)} as tie where ${isOf(tie, param)} order by ${otherOf(tie)} limit 1 offset ${sql.lit(ENDS_AT_ONCE)})`
        : sql`null`;
      return written(
        db,
        sql<EndRow>`select record.id as own, coalesce((${counts}), 0) as is_found, coalesce(${more}, 0) as has_more
          from ${sql.table(resource.name)} as record
          where record.org_id = ${param('org')} and ${db.engine.isAmong(sql.ref('record.id'), param('ids'))}`,
      );
    }),
  );
}

function firstEnds(tie: EndTable, param: Param): RawBuilder<unknown> {
  const type = tie.type === null ? sql`` : sql`, tie.record_type as type`;
  return sql`select ${otherOf(tie)} as other${type} from ${sql.table(tie.table)} as tie
    where ${isOf(tie, param)} order by ${otherOf(tie)} limit ${sql.lit(ENDS_AT_ONCE)}`;
}

// In the order of the index, so that every plan goes by it.
function otherOf({ other }: EndTable): RawBuilder<unknown> {
  return sql.ref(`tie.${other}`);
}

// Each is looked up by itself: a plan could go through all records instead.
function isOwned({ table, owner }: OwnedEnd, param: Param): RawBuilder<unknown> {
  return sql`(select 1 from ${sql.table(table)} as child where child.org_id = ${param('org')}
    and child.id = few.other and ${sql.ref(`child.${owner}`)} = ${param('user')}) is not null`;
}

function isOf({ own }: EndTable, param: Param): RawBuilder<unknown> {
  return sql`tie.org_id = ${param('org')} and ${sql.ref(`tie.${own}`)} = record.id`;
}
