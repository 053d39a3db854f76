// Imports exported pipelines: one with the same name is used and gets the same stages; others are created.
import type { Data } from '../../../db/model/json.ts';
import { recordOf } from '../../api/envelope.ts';
import type { Pipeline, Stage } from '../../api/pipelines.ts';
import { isRefusal } from '../../errors.ts';
import { Lookups } from '../rows/lookups.ts';
import { stagesToCreate } from '../rows/stages.ts';
import type { FolderParts } from './folder-job.ts';
import type { IdMap } from './id-map.ts';

/** Imports pipelines in the order of the export; resolves with how many were created and matched. */
export async function importPipelines(
  exported: AsyncIterable<Data>,
  job: FolderParts,
): Promise<{ created: number; matched: number }> {
  const { keyPrefix, interruption } = job;
  const { signal } = interruption;
  const lookups = new Lookups(job.client, {
    createMissing: false,
    createStages: false,
    isDryRun: false,
    keyPrefix,
    signal,
  });
  const free = [...(await lookups.pipelines())];
  const result = { created: 0, matched: 0 };
  for await (const record of exported) {
    const pipeline = record as Pipeline;
    const mapped = job.ids.find('pipelines', pipeline.id);
    const at = free.findIndex(({ id, name }) =>
      mapped === undefined ? name.toLowerCase() === pipeline.name.toLowerCase() : id === mapped,
    );
    const [twin] = at < 0 ? [] : free.splice(at, 1);
    const stored = twin === undefined ? await create(pipeline, job) : await align(twin, pipeline, job);
    result[twin === undefined ? 'created' : 'matched'] += 1;
    remember(pipeline, stored, job.ids);
  }
  return result;
}

async function create(
  pipeline: Pipeline,
  { client, keyPrefix, interruption }: FolderParts,
): Promise<Pipeline> {
  const response = await client.request('POST', '/api/v2/pipelines', {
    body: { name: pipeline.name, stages: stagesToCreate(pipeline.stages) },
    idempotencyKey: `${keyPrefix}-pipeline-${pipeline.id}`,
    signal: interruption.signal,
  });
  return recordOf(response) as Pipeline;
}

/** Gives the pipeline the exported stages; other stages that contain deals are kept after them. */
async function align(twin: Pipeline, pipeline: Pipeline, job: FolderParts): Promise<Pipeline> {
  const left = [...twin.stages];
  const stages = pipeline.stages.map(({ name, type, probability }) => {
    const at = left.findIndex((one) => one.name.toLowerCase() === name.toLowerCase());
    const [kept] = at < 0 ? [] : left.splice(at, 1);
    return { ...(kept !== undefined && { id: kept.id }), name, type, probability };
  });
  const wanted = stages.map((stage, position) => JSON.stringify({ ...stage, position }));
  const present = twin.stages.map(({ id, name, type, probability, position }) =>
    JSON.stringify({ id, name, type, probability, position }),
  );
  if (wanted.join() === present.join()) return twin;
  const others = left.map(({ id, name, type, probability }) => ({ id, name, type, probability }));
  return (await patch(twin, stages, job)) ?? (await patch(twin, [...stages, ...others], job)) ?? twin;
}

/** The pipeline with other stages; undefined if deals prevent it. */
async function patch(
  { id }: Pipeline,
  stages: unknown[],
  { client, interruption }: FolderParts,
): Promise<Pipeline | undefined> {
  try {
    const options = { body: { stages }, signal: interruption.signal };
    return recordOf(await client.request('PATCH', `/api/v2/pipelines/${id}`, options)) as Pipeline;
  } catch (error) {
    if (isRefusal(error, 409)) return undefined;
    throw error;
  }
}

function remember(exported: Pipeline, stored: Pipeline, ids: IdMap): void {
  ids.addAll('pipelines', [{ oldId: exported.id, newId: stored.id }]);
  const pairs = exported.stages.flatMap(({ id }: Stage, position) => {
    const twin = stored.stages[position];
    return twin === undefined ? [] : [{ oldId: id, newId: twin.id }];
  });
  ids.addAll('stages', pairs);
}
