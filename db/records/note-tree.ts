// The position of notes in their trees, read within bounds: trees could be deeper once, and can be wide.
import { sql } from 'kysely';
import type { Db, RecordKey, RecordTrx } from '../engine/schema.ts';
import { statement, written } from '../engine/statement.ts';
import { NOTE_LEVELS_MAX, notes } from '../model/resources/notes.ts';
import { effectsOf, findUnset } from './restored-dependents.ts';
import type { LoggedDelete } from './undeletion.ts';

/** Maximum number of notes below one that are examined before it is moved. */
export const NOTES_BELOW_MAX = 10_000;
// An undelete brings back what was there, so that it is refused only where examining it would take long.
const NOTES_RESTORED_MAX = 100_000;

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
      select id, 0 from notes where org_id = ${org} and ${db.engine.isAmong(sql.ref('id'), param('ids'))}
      union all
      select notes.id, below.level + 1
      from below join notes on notes.org_id = ${org} and notes.parent_id = below.id
      where below.level < ${sql.lit(NOTE_LEVELS_MAX)})
    select max(level) as levels, count(*) as notes
    from (select level from below limit ${param('limit')}) as found`,
  );
});

/** Number of levels below a note; undefined if there are more notes than are examined. */
export async function findHeight(db: Db, { orgNumber, id }: RecordKey): Promise<number | undefined> {
  // The note itself is one of them.
  const limit = NOTES_BELOW_MAX + 2;
  const [found] = await below(db, { org: orgNumber, ids: JSON.stringify([id]), limit });
  return found === undefined || Number(found.notes) >= limit ? undefined : Number(found.levels);
}

/** Number of levels of notes that a deleted note gets below it when it is restored; undefined as for `findHeight`. */
export async function findRestoredHeight(trx: RecordTrx, logged: LoggedDelete): Promise<number | undefined> {
  const { orgNumber: org, id } = logged;
  let height = 0;
  let limit = NOTES_RESTORED_MAX + 1;
  for await (const effects of effectsOf(trx, logged, Number.MAX_SAFE_INTEGER)) {
    const cleared = effects.flatMap((one) => (one.values.before?.parent_id === id ? [one.id] : []));
    const children = await findUnset(trx, notes, 'parent_id', { orgNumber: org, ids: cleared });
    if (children.length === 0) continue;
    const ids = JSON.stringify(children.map((child) => child.id));
    const [found] = await below(trx, { org, ids, limit });
    limit -= Number(found?.notes);
    if (limit <= 0) return undefined;
    height = Math.max(height, 1 + Number(found?.levels));
  }
  return height;
}
