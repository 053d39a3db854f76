// Pipelines with their stages, which have their own table so that deals can refer to them.
import { sql } from 'kysely';
import { bulkInsert } from '../engine/bulk-insert.ts';
import {
  type ColumnMap,
  type Db,
  type RecordKey,
  type StageRow,
  type Trx,
  tableOf,
} from '../engine/schema.ts';
import { lookup, statement } from '../engine/statement.ts';
import { inBatches } from '../event-loop.ts';
import { pipelines, type StageType } from '../model/resources/pipelines.ts';
import { recordId } from './record-id.ts';
import { insertRecord } from './records.ts';

export interface NewStage {
  name: string;
  type?: StageType;
  probability?: number | null;
}

/** Inserts a pipeline and its stages in order; returns the pipeline's ID. `now` is in Unix milliseconds. */
export async function insertPipeline(
  trx: Trx,
  pipeline: { orgNumber: number; createdBy: string; now: number; name: string; stages: readonly NewStage[] },
): Promise<string> {
  const { name, stages, ...origin } = pipeline;
  const { id } = await insertRecord(trx, pipelines, { ...origin, data: { name } });
  await insertStages(trx, stages.map(stageRow({ orgNumber: origin.orgNumber, id }, origin.now)));
  return id;
}

/**
 * Makes the row of a stage from client input; its index in the list is its position.
 * @param now Unix milliseconds
 */
export function stageRow(
  pipeline: RecordKey,
  now: number,
): (stage: NewStage & { id?: string }, position: number) => StageRow {
  return (stage, position) => ({
    org_id: pipeline.orgNumber,
    id: stage.id ?? recordId(now),
    pipeline_id: pipeline.id,
    position,
    name: stage.name,
    type: stage.type ?? 'open',
    probability: stage.probability ?? null,
  });
}

const insert = bulkInsert('pipeline_stages', [
  'org_id',
  'id',
  'pipeline_id',
  'position',
  'name',
  'type',
  'probability',
]);

/** Adds stages to their pipelines. */
export async function insertStages(trx: Trx, rows: readonly StageRow[]): Promise<void> {
  await insert(
    trx,
    rows.map((row) => ({ ...row })),
  );
}

/** The stages of the pipelines, in order. */
export const listStages = lookup<StageRow>((db, param, isGiven) =>
  db
    .selectFrom('pipeline_stages')
    .selectAll()
    .where('org_id', '=', param('org'))
    .where(isGiven(sql.ref('pipeline_id')))
    .orderBy('pipeline_id')
    .orderBy('position'),
);

/** The stages with these IDs, in no order. */
export const findStages = lookup<StageRow>((db, param, isGiven) =>
  db
    .selectFrom('pipeline_stages')
    .selectAll()
    .where('org_id', '=', param('org'))
    .where(isGiven(sql.ref('id'))),
);

const firstStage = statement<StageRow>((db, param) =>
  db
    .selectFrom('pipeline_stages')
    .selectAll()
    .where('org_id', '=', param('org'))
    .where('pipeline_id', '=', param('pipeline'))
    .orderBy('position')
    .limit(1),
);

/** The first stage of a pipeline. */
export async function findFirstStage(db: Db, pipeline: RecordKey): Promise<StageRow | undefined> {
  return (await firstStage(db, { org: pipeline.orgNumber, pipeline: pipeline.id }))[0];
}

const oldestPipeline = statement<{ id: string }>((db, param) =>
  db
    .selectFrom(tableOf({ name: 'pipelines' }))
    .select('id')
    .where('org_id', '=', param('org'))
    .orderBy('id')
    .limit(1),
);

/** The ID of the organization's oldest pipeline, the default for deals. */
export async function findOldestPipeline(db: Db, orgNumber: number): Promise<string | undefined> {
  return (await oldestPipeline(db, { org: orgNumber }))[0]?.id;
}

/** Those of the stages that contain deals, with their names. */
export function findStagesInUse(
  db: Db,
  orgNumber: number,
  stageIds: readonly string[],
): Promise<Pick<StageRow, 'id' | 'name'>[]> {
  if (stageIds.length === 0) return Promise.resolve([]);
  return db
    .selectFrom('pipeline_stages as stage')
    .select(['stage.id', 'stage.name'])
    .where('stage.org_id', '=', orgNumber)
    .where('stage.id', 'in', [...stageIds])
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom(`${tableOf({ name: 'deals' })} as deal`)
          .select('deal.id')
          .where('deal.org_id', '=', orgNumber)
          .whereRef('deal.stage_id', '=', 'stage.id'),
      ),
    )
    .orderBy('stage.position')
    .execute();
}

/** Updates the name, type, probability and position of a stage. */
export async function updateStage(trx: Trx, row: StageRow): Promise<void> {
  const { name, type, probability, position } = row;
  await trx
    .updateTable('pipeline_stages')
    .set({ name, type, probability, position })
    .where('org_id', '=', row.org_id)
    .where('id', '=', row.id)
    .execute();
}

/** Deletes stages without deals. */
export async function deleteStages(trx: Trx, orgNumber: number, stageIds: readonly string[]): Promise<void> {
  if (stageIds.length === 0) return;
  await trx
    .deleteFrom('pipeline_stages')
    .where('org_id', '=', orgNumber)
    .where('id', 'in', [...stageIds])
    .execute();
}

/** Updates the deals of a stage to its new type: their status and, if closed or reopened, their closing time. */
export async function moveDealsWithStage(trx: Trx, stage: StageRow, now: number): Promise<void> {
  const columns: ColumnMap = {
    status: stage.type,
    closed_at: stage.type === 'open' ? null : now,
    updated_at: now,
  };
  const table = tableOf({ name: 'deals' });
  const inStage = trx.selectFrom(table).select('id').where('org_id', '=', stage.org_id);
  const deals = await inStage.where('stage_id', '=', stage.id).execute();
  await inBatches(async (rowsMax) => {
    const ids = deals.splice(-rowsMax).map((deal) => deal.id);
    if (ids.length === 0) return 0;
    const update = trx.updateTable(table).set(columns).where('org_id', '=', stage.org_id);
    await update.where('id', 'in', ids).execute();
    return ids.length;
  });
}
