// Deals and pipelines in the model: stages with identity, and what follows from a deal's stage.
import type { Json } from '../support/harness.ts';
import type { Data, Fault, Outcome, World } from './world.ts';

const DEFAULT_STAGES = [
  { name: 'Prospecting' },
  { name: 'Discovery' },
  { name: 'Proposal' },
  { name: 'Negotiation' },
  { name: 'Closed Won', type: 'won' },
  { name: 'Closed Lost', type: 'lost' },
];

const wrong = (path: string): Fault[] => [{ path, code: 'VALIDATION_FAILED' }];

/**
 * Puts a deal where its body says, and sets what follows from the stage.
 * @param before the deal as it was, null for a new one
 * @param faults those found so far: a pipeline that is not there says nothing of the stage
 * @returns what is wrong with the place
 */
export function placeDeal(
  world: World,
  before: Data | null,
  body: Data,
  deal: Data,
  faults: Fault[],
): Fault[] {
  if (faults.some(({ path }) => path === 'pipeline_id')) return [];
  const [oldest] = world
    .records('pipelines')
    .toSorted((a, b) =>
      a.created_at === b.created_at ? (a.id < b.id ? -1 : 1) : a.created_at < b.created_at ? -1 : 1,
    );
  const pipelineId = body.pipeline_id ?? before?.pipeline_id ?? oldest?.id;
  const stages: Data[] = world.table('pipelines').get(pipelineId)?.stages ?? [];
  let stage = stages[0];
  if (body.stage_id !== undefined) {
    stage = stages.find((one) => one.id === body.stage_id);
    if (stage === undefined) return wrong('stage_id');
  } else if (before !== null && pipelineId === before.pipeline_id)
    stage = stages.find((one) => one.id === before.stage_id);
  if (stage === undefined) return wrong('pipeline_id');
  deal.pipeline_id = pipelineId;
  deal.stage_id = stage.id;
  if (before?.stage_id !== stage.id) deal.stage_changed_at = world.timestamp;
  if (before === null || before.status !== stage.type) close(world, deal, stage.type);
  return [];
}

function close(world: World, deal: Data, status: string): void {
  deal.status = status;
  deal.closed_at = status === 'open' ? null : world.timestamp;
}

/** The stages of a pipeline from those in a body; the ids of new ones are what the service made them. */
export function finishPipeline(before: Json, stages: Json, made: Json): Data[] {
  const kept = new Map<string, Data>((before ?? []).map((stage: Data) => [stage.id, stage]));
  return (stages ?? DEFAULT_STAGES).map((stage: Data, position: number) => {
    const was = kept.get(stage.id);
    return {
      id: stage.id ?? made?.[position]?.id,
      name: stage.name,
      type: stage.type ?? was?.type ?? 'open',
      probability: stage.probability === undefined ? (was?.probability ?? null) : stage.probability,
      position,
    };
  });
}

/** What is wrong with the stages that are to take the place of a pipeline's own. */
export function pipelineFaults(current: Data, stages: Json): Fault[] {
  if (stages === undefined) return [];
  const known = new Set(current.stages.map((stage: Data) => stage.id));
  const seen = new Set<string>();
  return stages.flatMap(({ id, position }: Data, index: number) => {
    const faults = position !== undefined && position !== index ? wrong(`stages.${index}.position`) : [];
    if (id !== undefined && (!known.has(id) || seen.has(id))) faults.push(...wrong(`stages.${index}.id`));
    seen.add(id);
    return faults;
  });
}

/** The conflict of a change that removes stages in which deals are. */
export function stagesInUse(world: World, current: Data, stages: Json): Outcome | null {
  const kept = new Set(stages.map((stage: Data) => stage.id));
  const removed = current.stages.filter((stage: Data) => !kept.has(stage.id)).map((stage: Data) => stage.id);
  const isUsed = world.records('deals').some((deal) => removed.includes(deal.stage_id));
  return isUsed ? { status: 409, conflicts: [{ path: null, location: null }] } : null;
}

/** Takes the deals of stages along that have changed their type. */
export function moveDeals(world: World, before: Data[], after: Data[]): void {
  for (const stage of after) {
    const was = before.find((one) => one.id === stage.id);
    if (was === undefined || was.type === stage.type) continue;
    for (const deal of world.records('deals')) {
      if (deal.stage_id !== stage.id) continue;
      close(world, deal, stage.type);
      deal.updated_at = world.timestamp;
    }
  }
}
