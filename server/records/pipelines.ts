// Pipelines: stages keep their identity through updates, and deals keep their stages.

import { lastChange } from '../../db/engine/change-log.ts';
import type { StageRow } from '../../db/engine/schema.ts';
import { requiredFault } from '../../db/model/faults.ts';
import type { Data, JsonValue } from '../../db/model/json.ts';
import { DEFAULT_STAGES, type StageType } from '../../db/model/resources/pipelines.ts';
import {
  deleteStages,
  findStagesInUse,
  insertStages,
  listStages,
  moveDealsWithStage,
  showStage,
  stageRow,
  updateStage,
} from '../../db/records/pipelines.ts';
import { recordId } from '../../db/tables/record-id.ts';
import { ApiError } from '../errors.ts';
import type { Change, Rules } from './rules.ts';

type StageInput = {
  id?: string;
  name?: string;
  type?: StageType;
  probability?: number | null;
  position?: number;
};

export const pipelineRules: Rules = {
  // Stages of an upsert have no IDs: those with the name of an existing stage keep it.
  onMatch({ fields, current }) {
    if (fields.stages === undefined) return fields;
    const byName = (stages: StageInput[]) => Map.groupBy(stages, ({ name }) => name);
    const stages = stagesIn(fields.stages);
    const [given, existing] = [byName(stages), byName(stagesIn(current.stages))];
    return {
      ...fields,
      stages: stages.map((stage) => {
        const [same = [], others = []] = [existing.get(stage.name), given.get(stage.name)];
        // Names that several stages have identify them only by their order, and only if there are as many.
        const isKnown = same.length === 1 || same.length === others.length;
        const id = isKnown ? same[others.indexOf(stage)]?.id : undefined;
        return { ...(id !== undefined && { id }), ...stage };
      }),
    };
  },
  // A change of stages moves deals, which the log reports right after it.
  dependsOn(change, earlier) {
    return changesStages(change) || changesStages(earlier);
  },
  prepare(change) {
    const { current, input, next } = change;
    if (input.stages === undefined) {
      if (current === null) next.stages = [...DEFAULT_STAGES];
    } else if (current !== null) {
      const stages = stagesIn(input.stages);
      checkStages(change, stages);
      next.stages = completed(stagesIn(current.stages), stages, change.now);
    }
  },
  async claim(change) {
    if (change.current === null || change.input.stages === undefined) return;
    const kept = new Set(stagesIn(change.input.stages).map((stage) => stage.id));
    const removed = stagesIn(change.current.stages).filter((stage) => !kept.has(stage.id));
    await refuseWhileInUse(
      change,
      removed.map((stage) => String(stage.id)),
    );
  },
  async afterWrite({ db: trx }, changes) {
    await insertStages(trx, changes.filter(({ current }) => current === null).flatMap(rowsOf));
    for (const change of changes) {
      if (changesStages(change)) await replaceStages(change, stagesIn(change.current?.stages));
    }
  },
  async refuseDeletes({ db, access }, ids) {
    const stages = await listStages(db, access.orgNumber, ids);
    const stageIds = stages.map(({ id }) => id);
    const used = await findStagesInUse(db, access.orgNumber, stageIds);
    const message = 'Deals still use this pipeline; move or delete them first.';
    const refusal = new ApiError('RESOURCE_CONFLICT', message);
    return new Map(used.map(({ pipeline_id }) => [pipeline_id, refusal]));
  },
  async findComputed({ db, access }, ids) {
    const rows = await listStages(db, access.orgNumber, ids);
    return (record) => {
      record.stages = rows.filter((row) => row.pipeline_id === record.id).map(showStage);
    };
  },
};

function changesStages({ current, input }: Change): boolean {
  return current !== null && input.stages !== undefined;
}

// The stages of an update, as they will be shown: a kept stage keeps the fields that the client leaves out.
function completed(before: StageInput[], stages: StageInput[], now: number): Data[] {
  const known = new Map(before.map((stage) => [stage.id, stage]));
  return stages.map((stage, position) => {
    const kept = { ...known.get(stage.id), ...stage };
    const { id = recordId(now), name = '', type = 'open', probability = null } = kept;
    return { id, name, type, probability, position };
  });
}

function stagesIn(value: JsonValue | undefined): StageInput[] {
  return Array.isArray(value) ? (value as StageInput[]) : [];
}

// In an update, an ID keeps a stage, a stage without an ID is new and needs a name, and positions must match the order.
function checkStages({ current, faults }: Change, stages: StageInput[]): void {
  const known = new Set(stagesIn(current?.stages).map((stage) => stage.id));
  const seen = new Set<string>();
  stages.forEach((stage, index) => {
    const fault = (field: string, message: string) =>
      void faults.push({ path: `stages.${index}.${field}`, message, code: 'VALIDATION_FAILED' });
    if (stage.position !== undefined && stage.position !== index)
      fault('position', `must match the order of the stages: ${index} here`);
    if (stage.id === undefined) {
      if (stage.name === undefined) faults.push(requiredFault(`stages.${index}.name`));
      return;
    }
    if (!known.has(stage.id))
      fault('id', 'must be the ID of a stage of this pipeline; leave it out for a new stage');
    if (seen.has(stage.id)) fault('id', 'must not be repeated');
    seen.add(stage.id);
  });
}

async function refuseWhileInUse({ trx, access }: Change, stageIds: string[]): Promise<void> {
  const [used] = await findStagesInUse(trx, access.orgNumber, stageIds);
  if (used === undefined) return;
  const message = `Deals are still in the stage ${used.name}, which this request would remove; move them first.`;
  throw new ApiError('RESOURCE_CONFLICT', message);
}

function rowsOf({ access, id, next, now }: Change): StageRow[] {
  const stages = stagesIn(next.stages).map((stage) => ({ ...stage, name: String(stage.name) }));
  return stages.map(stageRow({ orgNumber: access.orgNumber, id }, now));
}

async function replaceStages(change: Change, before: StageInput[]): Promise<void> {
  const { trx, access, now } = change;
  const rows = rowsOf(change);
  const previous = new Map(before.map((stage) => [stage.id, stage]));
  const kept = new Set(rows.map((row) => row.id));
  const removed = before.flatMap(({ id }) => (id !== undefined && !kept.has(id) ? [id] : []));
  await deleteStages(trx, access.orgNumber, removed);
  await insertStages(
    trx,
    rows.filter((row) => !previous.has(row.id)),
  );
  const context = { orgNumber: access.orgNumber, at: now, cause: await lastChange(trx, access.orgNumber) };
  for (const row of rows) {
    const was = previous.get(row.id);
    if (was === undefined) continue;
    await updateStage(trx, row);
    if (was.type !== row.type) await moveDealsWithStage(trx, row, context);
  }
}
