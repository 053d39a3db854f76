// The position of notes in their trees, read within bounds: trees could be deeper once, and can be wide.
import { sql } from 'kysely';
import type { Db, RecordKey } from '../engine/schema.ts';
import { statement, written } from '../engine/statement.ts';
import { NOTE_LEVELS_MAX } from '../model/resources/notes.ts';

/** Maximum number of notes below one that are examined before it is moved. */
export const NOTES_BELOW_MAX = 10_000;

const above = statement<{ start: string; id: string }>((db, param) => {
  const org = param('org');
  return written(
    db,
    sql`with recursive above (start, id, parent_id, level) as (
      select id, id, parent_id, 1 from notes where org_id = ${org} and ${db.engine.isAmong(sql.ref('id'), param('ids'))}
      union all
      select above.start, notes.id, notes.parent_id, above.level + 1
      from above join notes on notes.org_id = ${org} and notes.id = above.parent_id
      where above.level < ${sql.lit(NOTE_LEVELS_MAX)})
    select start, id from above order by start, level`,
  );
});

/** The path from each note to the root of its tree, itself first, no longer than the deepest allowed path. */
export async function findPaths(
  db: Db,
  orgNumber: number,
  ids: readonly string[],
): Promise<Map<string, string[]>> {
  const paths = new Map<string, string[]>();
  for (const { start, id } of await above(db, { org: orgNumber, ids: JSON.stringify(ids) })) {
    const path = paths.get(start);
    if (path === undefined) paths.set(start, [id]);
    else path.push(id);
  }
  return paths;
}

const below = statement<{ levels: number; notes: number }>((db, param) => {
  const org = param('org');
  return written(
    db,
    sql`with recursive below (id, level) as (
      select id, 0 from notes where org_id = ${org} and id = ${param('id')}
      union all
      select notes.id, below.level + 1
      from below join notes on notes.org_id = ${org} and notes.parent_id = below.id
      where below.level < ${sql.lit(NOTE_LEVELS_MAX)})
    select max(level) as levels, count(*) as notes
    from (select level from below limit ${sql.lit(NOTES_BELOW_MAX + 2)}) as found`,
  );
});

/** Number of levels below a note; undefined if there are more notes than are examined. */
export async function findHeight(db: Db, { orgNumber, id }: RecordKey): Promise<number | undefined> {
  const [found] = await below(db, { org: orgNumber, id });
  // The note itself is one of them.
  if (found === undefined || Number(found.notes) > NOTES_BELOW_MAX + 1) return undefined;
  return Number(found.levels);
}
