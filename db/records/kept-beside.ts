// The fields of records that are stored outside their table, or counted: a deleted record is logged with them.

import { sql } from 'kysely';
import { type Db, linkTable, type Trx } from '../engine/schema.ts';
import { lookup } from '../engine/statement.ts';
import type { Data } from '../model/json.ts';
import type { Resource } from '../model/resource.ts';
import { pipelines } from '../model/resources/pipelines.ts';
import { segmentMembers, segments } from '../model/resources/segments.ts';
import { insertStages, listStages, type NewStage, showStage, stageRow } from './pipelines.ts';

type Find = (db: Db, orgNumber: number, ids: readonly string[]) => Promise<Map<string, Data>>;

const members = lookup<{ id: string; total: number }>((db, param, isGiven) =>
  db
    .selectFrom(linkTable(segmentMembers.table))
    .select((eb) => [`${segmentMembers.parentColumn} as id`, eb.fn.countAll<number>().as('total')])
    .$castTo<{ id: string; total: number }>()
    .where('org_id', '=', param('org'))
    .where(isGiven(sql.ref(segmentMembers.parentColumn)))
    .groupBy(segmentMembers.parentColumn),
);

const FINDS: Record<string, Find> = {
  [pipelines.name]: async (db, orgNumber, ids) => {
    const byPipeline = Map.groupBy(await listStages(db, orgNumber, ids), ({ pipeline_id }) => pipeline_id);
    return new Map([...byPipeline].map(([id, stages]) => [id, { stages: stages.map(showStage) }]));
  },
  [segments.name]: async (db, orgNumber, ids) => {
    const rows = await members(db, orgNumber, ids);
    return new Map(rows.map(({ id, total }) => [id, { member_count: Number(total) }]));
  },
};

/** Those fields of records, by ID. */
export async function findKeptBeside(
  db: Db,
  { name }: Pick<Resource, 'name'>,
  orgNumber: number,
  ids: readonly string[],
): Promise<Map<string, Data>> {
  return (await FINDS[name]?.(db, orgNumber, ids)) ?? new Map();
}

/** Stores those fields of a record that was deleted. */
export async function restoreKeptBeside(
  trx: Trx,
  { name }: Pick<Resource, 'name'>,
  orgNumber: number,
  { id, stages }: Data,
): Promise<void> {
  if (name !== pipelines.name || !Array.isArray(stages)) return;
  const row = stageRow({ orgNumber, id: String(id) }, 0);
  await insertStages(trx, (stages as unknown as (NewStage & { id: string })[]).map(row));
}
