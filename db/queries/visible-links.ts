// Whether a record with many links has one that counts: looks at all of them, some at a time, in the order of the other IDs.
import { sql } from 'kysely';
import { BoundedMap } from '../cache.ts';
import type { Db } from '../engine/schema.ts';
import { type Statement, statement, written } from '../engine/statement.ts';
import type { Way } from '../model/resources/relations.ts';
import type { Examination } from './examination.ts';

/** Related records that belong to users, and the column with their owner. */
export interface OwnedRecords {
  table: string;
  owner: string;
}

/** The links of a record, and which of them count. */
export interface LinksOfRecord {
  org: number;
  way: Way;
  /** The records at the other end, if only those of the user are visible. */
  owned: OwnedRecords | null;
  userId: string | null;
  /** The ID of the record. */
  own: string;
}

const LINKS_AT_ONCE = 500;
const SHAPES_MAX = 100;

type SeenRow = { other: string; counts: number };
const statements = new BoundedMap<string, Statement<SeenRow>>(SHAPES_MAX);

/** Whether any link of the record counts. */
export async function hasVisibleLink(
  db: Db,
  links: LinksOfRecord,
  examination: Examination,
): Promise<boolean> {
  const { org, way, userId, own } = links;
  for (let after = ''; ; ) {
    const rows = await statementOf(links)(db, { org, own, after, type: way.type, user: userId });
    examination.add(rows.length);
    if (rows.some(({ counts }) => counts === 1)) return true;
    const last = rows.at(-1);
    if (last === undefined || rows.length < LINKS_AT_ONCE) return false;
    after = last.other;
    await examination.pause();
  }
}

function statementOf({ way, owned }: LinksOfRecord): Statement<SeenRow> {
  const shape = JSON.stringify([way.table, way.own, way.other, way.type === null, owned]);
  return statements.getOrCompute(shape, () =>
    statement<SeenRow>((db, param) => {
      const other = sql.ref(`link.${way.other}`);
      const isOfType = way.type === null ? sql`true` : sql`link.record_type = ${param('type')}`;
      const isVisible =
        owned === null
          ? sql`true`
          : sql`(select 1 from ${sql.table(owned.table)} as child
              where child.org_id = ${param('org')} and child.id = ${other}
              and ${sql.ref(`child.${owned.owner}`)} = ${param('user')}) is not null`;
      return written(
        db,
        sql<SeenRow>`select ${other} as other, case when ${isOfType} and ${isVisible} then 1 else 0 end as counts
          from ${sql.table(way.table)} as link
          where link.org_id = ${param('org')} and ${sql.ref(`link.${way.own}`)} = ${param('own')} and ${other} > ${param('after')}
          order by ${other} limit ${sql.lit(LINKS_AT_ONCE)}`,
      );
    }),
  );
}
