// Whether a record with many links has one that counts: looks at all of them, some at a time, in the order of the other ends.
import { sql } from 'kysely';
import { BoundedMap } from '../cache.ts';
import type { Db } from '../engine/schema.ts';
import { type Statement, statement, written } from '../engine/statement.ts';
import type { EndTable, OwnedEnd } from './end-tables.ts';
import type { Examination } from './examination.ts';

/** The links of a record, and which of them count. */
export interface EndsOfRecord {
  org: number;
  tie: EndTable;
  /** The records at the other ends that have owners; null if all are visible. */
  child: OwnedEnd | null;
  userId: string | null;
  /** The ID of the record. */
  own: string;
}

const ENDS_AT_ONCE = 500;
const SHAPES_MAX = 100;

type SeenRow = { other: string; counts: number };
const statements = new BoundedMap<string, Statement<SeenRow>>(SHAPES_MAX);

/** Whether any link of the record counts. */
export async function findVisibleEnd(db: Db, ends: EndsOfRecord, examination: Examination): Promise<boolean> {
  const { org, tie, userId, own } = ends;
  for (let after = ''; ; ) {
    const rows = await statementOf(ends)(db, { org, own, after, type: tie.type, user: userId });
    examination.add(rows.length);
    if (rows.some(({ counts }) => counts === 1)) return true;
    const last = rows.at(-1);
    if (last === undefined || rows.length < ENDS_AT_ONCE) return false;
    after = last.other;
    await examination.pause();
  }
}

function statementOf({ tie, child }: EndsOfRecord): Statement<SeenRow> {
  const shape = JSON.stringify([tie.table, tie.own, tie.other, tie.type === null, child]);
  return statements.getOrCompute(shape, () =>
    statement<SeenRow>((db, param) => {
      const other = sql.ref(`tie.${tie.other}`);
      const isOfType = tie.type === null ? sql`true` : sql`tie.record_type = ${param('type')}`;
      const isVisible =
        child === null
          ? sql`true`
          : sql`(select 1 from ${sql.table(child.table)} as child
              where child.org_id = ${param('org')} and child.id = ${other}
              and ${sql.ref(`child.${child.owner}`)} = ${param('user')}) is not null`;
      return written(
        db,
        sql<SeenRow>`select ${other} as other, case when ${isOfType} and ${isVisible} then 1 else 0 end as counts
          from ${sql.table(tie.table)} as tie
          where tie.org_id = ${param('org')} and ${sql.ref(`tie.${tie.own}`)} = ${param('own')} and ${other} > ${param('after')}
          order by ${other} limit ${sql.lit(ENDS_AT_ONCE)}`,
      );
    }),
  );
}
