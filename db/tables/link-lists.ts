// Lists of all links of one kind in an organization, newest first.
import { type RawBuilder, sql } from 'kysely';
import { memoize } from '../cache.ts';
import type { Db } from '../engine/schema.ts';
import { type Param, type Statement, statement, written } from '../engine/statement.ts';
import type { Resource, Row } from '../model/resource.ts';
import type { LinkKind } from '../model/resources/link-kinds.ts';
import { getResource } from '../model/resources/registry.ts';

/** The position of a link among all links of its kind. */
export interface KindPosition {
  /** Unix milliseconds. */
  linkedAt: number;
  parentId: string;
  childId: string;
}

export interface KindQuery {
  orgNumber: number;
  /** Only links between records of this owner; null for all of the organization. */
  ownerId: string | null;
  /** Only links of these parents; null for all. */
  parentIds: readonly string[] | null;
  /** Only links of parents with one of these record types; null for all. */
  parentTypes: readonly string[] | null;
  /** The last link of the previous page. */
  after: KindPosition | null;
  limit: number;
}

/** A link with its own fields as stored. */
export type KindLinkRow = Row & { parent_id: string; child_id: string; linked_at: number };

// Before the first link.
const END: KindPosition = { linkedAt: Number.MAX_SAFE_INTEGER, parentId: '', childId: '' };

// If a list is limited to at most this many parents, with at most as many links, these are all read and sorted. Beyond that,
// reading the links of the organization in order finds a page sooner.
const SORTED_MAX = 5_000;

/** One page of the links of a kind. */
export async function listLinksOfKind(db: Db, kind: LinkKind, query: KindQuery): Promise<KindLinkRow[]> {
  const { ownerId, parentIds, parentTypes, limit } = query;
  const { linkedAt, parentId, childId } = query.after ?? END;
  const args = {
    ...{ org: query.orgNumber, owner: ownerId, types: parentTypes && JSON.stringify(parentTypes) },
    ...{ before: linkedAt, before_parent: parentId, before_child: childId, limit },
  };
  const limits = { owner: ownerId !== null, types: parentTypes !== null, ids: parentIds !== null };
  const isLimited = limits.owner || limits.types;
  const statements = statementsOf(kind)(limits);
  if (parentIds === null && !isLimited) return statements.inOrder(db, args);
  const given = parentIds && JSON.stringify(parentIds);
  const found = isLimited
    ? await statements.parents(db, { ...args, parents: given, limit: SORTED_MAX + 1 })
    : [];
  const ids = isLimited ? found.map(({ id }) => id) : (parentIds ?? []);
  if (parentIds !== null) {
    const pages = await Promise.all(ids.map((parent) => statements.ofParent(db, { ...args, parent })));
    return pages.flat().sort(newestFirst).slice(0, limit);
  }
  if (ids.length === 0) return [];
  if (ids.length > SORTED_MAX) return statements.inOrder(db, args);
  const parents = JSON.stringify(ids);
  const more = await statements.ofParents(db, { ...args, parents, offset: SORTED_MAX });
  return more.length > 0 ? statements.inOrder(db, args) : statements.sorted(db, { ...args, parents });
}

function newestFirst(a: KindLinkRow, b: KindLinkRow): number {
  const key = ({ parent_id, child_id }: KindLinkRow) => `${parent_id} ${child_id}`;
  return b.linked_at - a.linked_at || (key(a) < key(b) ? 1 : -1);
}

/** What limits a list to some parents. */
type Limits = Readonly<Record<'owner' | 'types' | 'ids', boolean>>;

interface Statements {
  /** The page of one parent. */
  ofParent: Statement<KindLinkRow>;
  /** The page, by reading the links of the organization in order. */
  inOrder: Statement<KindLinkRow>;
  /** The parents that the list is limited to. */
  parents: Statement<{ id: string }>;
  /** One of the links of those parents, after as many others. */
  ofParents: Statement<unknown>;
  /** The page, by sorting the links of those parents. */
  sorted: Statement<KindLinkRow>;
}

const statementsOf = memoize((kind: LinkKind) => {
  const made = new Map<string, Statements>();
  return (limits: Limits) =>
    made.getOrInsertComputed(JSON.stringify(limits), () => makeStatements(kind, limits));
});

type Condition = RawBuilder<unknown>;

function makeStatements(kind: LinkKind, limits: Limits): Statements {
  const { link, parent } = kind;
  const links = sql`${sql.table(link.table)} as link`;
  const parentId = sql.ref<string>(`link.${link.parentColumn}`);
  const columns = sql.join([
    sql`${parentId} as parent_id, ${sql.ref(`link.${link.childColumn}`)} as child_id`,
    ...columnsOfLink(kind).map(([name, column]) => sql`${column} as ${sql.ref(name)}`),
  ]);
  const page = (db: Db, param: Param, of: Condition) =>
    written<KindLinkRow>(
      db,
      sql`select ${columns} from ${links}
        where ${isLink(kind, param)} and ${of} and ${isAfter(kind, param)} and ${hasChild(kind, limits, param)}
        order by linked_at desc, parent_id desc, child_id desc limit ${param('limit')}`,
    );
  return {
    ofParent: statement((db, param) => page(db, param, sql`${parentId} = ${param('parent')}`)),
    inOrder: statement((db, param) => page(db, param, hasParent(db, kind, limits, param))),
    parents: statement((db, param) => {
      // So that every plan uses the index that narrows them down.
      const first = sql.ref(limits.owner ? ownerOf(parent) : 'record_type');
      const isGiven = limits.ids ? db.engine.isAmong(sql.ref('record.id'), param('parents')) : ALWAYS;
      const isOne = sql`${isWanted(db, parent, limits, param)} and ${isGiven}`;
      return written<{ id: string }>(
        db,
        sql`select id from ${sql.table(parent.name)} as record where ${isOne}
          order by ${first}, id limit ${param('limit')}`,
      );
    }),
    ofParents: statement((db, param) =>
      written(
        db,
        sql`select 1 from ${links} where ${isLink(kind, param)}
          and ${db.engine.isAmong(parentId, param('parents'))} limit 1 offset ${param('offset')}`,
      ),
    ),
    sorted: statement((db, param) => page(db, param, db.engine.isAmong(parentId, param('parents')))),
  };
}

/** The time of a link and its own fields, each with its name, in a query of the links as `link`. */
export function columnsOfLink({ link, linkedAt }: LinkKind): [name: string, column: RawBuilder<unknown>][] {
  const own = Object.keys(link.fields).map((name): [string, RawBuilder<unknown>] => [
    name,
    sql.ref(`link.${name}`),
  ]);
  return [['linked_at', timeOf(linkedAt)], ...own];
}

// As the index has it.
function timeOf(columns: readonly string[]): Condition {
  const [first, ...others] = columns.map((column) => sql.ref(`link.${column}`));
  return others.length === 0 ? sql`${first}` : sql`coalesce(${sql.join([first, ...others])})`;
}

function isLink({ link, association }: LinkKind, param: Param): Condition {
  const ofOrganization = sql`link.org_id = ${param('org')}`;
  if (association === null) return ofOrganization;
  return sql`${ofOrganization} and ${sql.ref(`link.${link.childColumn}`)} is not null`;
}

// SQLite uses an index on an expression only if the expression is compared by itself.
function isAfter({ link, linkedAt }: LinkKind, param: Param): Condition {
  const time = timeOf(linkedAt);
  const ends = sql`(${sql.ref(`link.${link.parentColumn}`)}, ${sql.ref(`link.${link.childColumn}`)})`;
  const before = sql`(${param('before_parent')}, ${param('before_child')})`;
  return sql`${time} <= ${param('before')} and (${time} < ${param('before')} or ${ends} < ${before})`;
}

const ALWAYS = sql`1 = 1`;

function hasParent(db: Db, { parent, link }: LinkKind, limits: Limits, param: Param): Condition {
  if (!limits.owner && !limits.types) return ALWAYS;
  return isEnd(parent, link.parentColumn, isWanted(db, parent, limits, param));
}

function hasChild({ link }: LinkKind, { owner }: Limits, param: Param): Condition {
  if (!owner) return ALWAYS;
  const children = Object.values(link.children).map(getResource);
  const isVisible = children.map((child) => isEnd(child, link.childColumn, isOwned(child, param)));
  return sql`(${sql.join(isVisible, sql` or `)})`;
}

// Whether a column has the ID of a record for which a condition holds.
function isEnd({ name }: Resource, column: string, holds: Condition): Condition {
  const isRecord = sql`record.id = ${sql.ref(`link.${column}`)}`;
  return sql`exists (select 1 from ${sql.table(name)} as record where ${isRecord} and ${holds})`;
}

function isWanted(db: Db, parent: Resource, { owner, types }: Limits, param: Param): Condition {
  const hasType = types ? db.engine.isAmong(sql.ref('record.record_type'), param('types')) : ALWAYS;
  if (owner) return sql`${isOwned(parent, param)} and ${hasType}`;
  return sql`record.org_id = ${param('org')} and ${hasType}`;
}

function isOwned(resource: Resource, param: Param): Condition {
  const owner = sql.ref(`record.${ownerOf(resource)}`);
  return sql`record.org_id = ${param('org')} and ${owner} = ${param('owner')}`;
}

function ownerOf({ owner }: Resource): string {
  return owner ?? 'created_by';
}
