// Deals: the stage belongs to the pipeline, and status and closing date follow the stage.

import type { StageRow } from '../../db/engine/schema.ts';
import { referenceFault } from '../../db/model/faults.ts';
import { instantText } from '../../db/model/instants.ts';
import { STAGE_ELSEWHERE } from '../../db/model/resources/deals.ts';
import { findFirstStage, findOldestPipeline, findStages } from '../../db/records/pipelines.ts';
import { lostReference } from './conflict.ts';
import { oncePerBatch } from './lookups.ts';
import type { Change, Rules } from './rules.ts';

export const dealRules: Rules = {
  async prepare(change) {
    const stage = await chooseStage(change);
    if (stage !== undefined) enterStage(change, stage);
  },
  // The type of the stage can have changed.
  async beforeUndelete({ db, access, now }, record) {
    const [stage] = await findStages(db, access.orgNumber, [String(record.stage_id)]);
    if (stage === undefined) {
      const message =
        'the stage of the deal was deleted; undelete its pipeline first, or create the deal again';
      throw lostReference('stage_id', message);
    }
    if (stage.type === record.status) return;
    record.status = stage.type;
    record.closed_at = stage.type === 'open' ? null : instantText(now);
  },
};

const stagesOf = oncePerBatch(async ({ db, access }, batch) => {
  const ids = batch.flatMap(({ input, current }) => [input.stage_id, current?.stage_id]);
  const given = new Set(ids.filter((id) => typeof id === 'string'));
  const stages = await findStages(db, access.orgNumber, [...given]);
  return new Map(stages.map((stage) => [stage.id, stage]));
});

const oldestPipeline = oncePerBatch(({ db, access }) => findOldestPipeline(db, access.orgNumber));

const firstStages = oncePerBatch(async ({ db, access: { orgNumber } }) => {
  const found = new Map<string, Promise<StageRow | undefined>>();
  return (id: string): Promise<StageRow | undefined> => {
    const finding = found.get(id) ?? findFirstStage(db, { orgNumber, id });
    found.set(id, finding);
    return finding;
  };
});

// The stage of the deal; undefined, with a fault, if the input does not identify one.
async function chooseStage(change: Change): Promise<StageRow | undefined> {
  const { current, input, faults } = change;
  const fault = (path: string, message: string) =>
    void faults.push({ path, message, code: 'VALIDATION_FAILED' });
  if (faults.some(({ path }) => path === 'pipeline_id')) return undefined;
  const sentPipeline = typeof input.pipeline_id === 'string' ? input.pipeline_id : undefined;
  if (typeof input.stage_id === 'string') {
    const stage = (await stagesOf(change)).get(input.stage_id);
    if (stage === undefined) {
      faults.push(referenceFault('stage_id', 'stages'));
      return undefined;
    }
    const pipelineId = sentPipeline ?? current?.pipeline_id ?? (await oldestPipeline(change));
    if (stage.pipeline_id === pipelineId) return stage;
    fault('stage_id', STAGE_ELSEWHERE);
    return undefined;
  }
  const unchanged = current !== null && (sentPipeline === undefined || sentPipeline === current.pipeline_id);
  if (unchanged) return (await stagesOf(change)).get(String(current.stage_id));
  const pipelineId = sentPipeline ?? (await oldestPipeline(change));
  const first = pipelineId === undefined ? undefined : await (await firstStages(change))(pipelineId);
  if (first === undefined)
    fault('pipeline_id', 'is required, but the organization has no pipeline; create one first');
  return first;
}

function enterStage({ current, next, now }: Change, stage: StageRow): void {
  const at = instantText(now);
  if (current?.stage_id !== stage.id) next.stage_changed_at = at;
  next.pipeline_id = stage.pipeline_id;
  next.stage_id = stage.id;
  if (next.status === stage.type && current !== null) return;
  next.status = stage.type;
  next.closed_at = stage.type === 'open' ? null : at;
}
