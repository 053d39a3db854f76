// Pipelines with their stages, which have their own table so that deals can refer to them.
import { sql } from 'kysely';
import { logUpdated } from '../changes/changes.ts';
import { bulkInsert } from '../engine/bulk-insert.ts';
import type { ChangeContext } from '../engine/change-log.ts';
import {
  type ColumnMap,
  type Db,
  type RecordKey,
  type RecordRow,
  type RecordTrx,
  type StageRow,
  type Trx,
  tableOf,
} from '../engine/schema.ts';
import { lookup, statement } from '../engine/statement.ts';
import { inBatches } from '../event-loop.ts';
import type { Data } from '../model/json.ts';
import { deals } from '../model/resources/deals.ts';
import { pipelines, type StageType } from '../model/resources/pipelines.ts';
import { recordId } from '../tables/record-id.ts';
import { updateReservedRecords } from './record-updates.ts';
import { findRecord, insertRecord } from './records.ts';

export interface NewStage {
  name: string;
  type?: StageType;
  probability?: number | null;
}

/** Inserts a pipeline and its stages in order; returns the pipeline's ID. `now` is in Unix milliseconds. */
export async function insertPipeline(
  trx: RecordTrx,
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

/** Those of the stages that contain deals, with their names and pipelines. */
export function findStagesInUse(
  db: Db,
  orgNumber: number,
  stageIds: readonly string[],
): Promise<Pick<StageRow, 'id' | 'name' | 'pipeline_id'>[]> {
  if (stageIds.length === 0) return Promise.resolve([]);
  return db
    .selectFrom('pipeline_stages as stage')
    .select(['stage.id', 'stage.name', 'stage.pipeline_id'])
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

/**
 * Gives a stage another name, if it exists.
 * @param now Unix milliseconds
 */
export async function renameStage(
  trx: RecordTrx,
  { orgNumber, id }: RecordKey,
  name: string,
  now: number,
): Promise<void> {
  const [stage] = await findStages(trx, orgNumber, [id]);
  const row = stage && (await findRecord(trx, pipelines, { orgNumber, id: stage.pipeline_id }));
  if (stage === undefined || row === undefined) return;
  const before = await listStages(trx, orgNumber, [row.id]);
  await updateStage(trx, { ...stage, name });
  const after = before.map((one) => (one.id === id ? { ...one, name } : one));
  const beside = { before: { stages: before.map(showStage) }, after: { stages: after.map(showStage) } };
  await updateReservedRecords(trx, pipelines, orgNumber, [{ row, columns: { updated_at: now }, beside }]);
}

/** A stage as a response shows it. */
export function showStage({ id, name, type, probability, position }: StageRow): Data {
  return { id, name, type, probability, position };
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

/**
 * Updates the deals of a stage to its new type: their status and, if closed or reopened, their closing time.
 * @param context of the change of the pipeline
 */
export async function moveDealsWithStage(
  trx: RecordTrx,
  stage: StageRow,
  context: ChangeContext,
): Promise<void> {
  const columns: ColumnMap = {
    status: stage.type,
    closed_at: stage.type === 'open' ? null : context.at,
    updated_at: context.at,
  };
  const table = tableOf(deals);
  const inStage = trx
    .selectFrom(table)
    .select(['id', 'status', 'closed_at', 'owner_id', 'company_id'])
    .$castTo<RecordRow>()
    .where('org_id', '=', stage.org_id)
    .where('stage_id', '=', stage.id);
  const rows = await inStage.orderBy('id').execute();
  await inBatches(async (rowsMax) => {
    const some = rows.splice(0, rowsMax);
    if (some.length === 0) return 0;
    const ids = some.map(({ id }) => id);
    const update = trx.updateTable(table).set(columns).where('org_id', '=', stage.org_id);
    await update.where('id', 'in', ids).execute();
    await logUpdated(
      trx,
      deals,
      context,
      some.map((row) => ({ row, columns })),
    );
    return ids.length;
  });
}
