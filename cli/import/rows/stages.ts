// Stages of pipelines: those of an export as they are created again, and those that a row names and a pipeline lacks.

import type { Data, JsonValue } from '../../../db/model/json.ts';
import { isObject } from '../../../db/model/json.ts';
import type { StageType } from '../../../db/model/resources/pipelines.ts';
import { clip } from '../../../db/model/text.ts';
import type { Client } from '../../api/client.ts';
import { recordOf } from '../../api/envelope.ts';
import { type Pipeline, type Stage, stageNamed } from '../../api/pipelines.ts';
import { responseError } from '../../api/response-error.ts';
import { RowFault } from '../row.ts';
import { rejectionOfError, requestForRow } from './row-request.ts';

// The server's status if the pipeline has changed since it was read.
const CHANGED_SINCE = 409;
const TRIES_MAX = 5;

/** Stages without the IDs and positions of an exported pipeline. */
export function stagesToCreate(stages: JsonValue): JsonValue {
  if (!Array.isArray(stages)) return stages;
  return stages.map((stage) => {
    if (!isObject(stage)) return stage;
    const { id: _id, position: _position, ...rest } = stage;
    return rest;
  });
}

/** Adds a stage to a pipeline, before the stages of closed deals; resolves with all its stages. */
export async function createStage(
  client: Client,
  pipelineId: string,
  name: string,
  signal?: AbortSignal,
): Promise<Stage[]> {
  const path = `/api/v2/pipelines/${pipelineId}`;
  const asked = signal && { signal };
  for (let tries = 1; ; tries += 1) {
    const current = await requestForRow(client, 'GET', path, { ...asked });
    const pipeline = recordOf(current) as Pipeline;
    // Another import may have added it since.
    if ('found' in stageNamed(pipeline, name)) return pipeline.stages;
    const etag = current.headers.get('etag');
    const headers: Record<string, string> = etag === null ? {} : { 'if-match': etag };
    const body = { stages: withStage(pipeline.stages, name) };
    const changed = await client.request('PATCH', path, { ...asked, body, headers, expectErrors: true });
    if (changed.status === CHANGED_SINCE && tries < TRIES_MAX) continue;
    if (changed.body.object !== 'error') return (recordOf(changed) as Pipeline).stages;
    if (changed.status !== 422) throw responseError(changed);
    const { message } = rejectionOfError(changed.body.error);
    throw new RowFault('VALIDATION_FAILED', '', `the stage "${clip(name)}" cannot be created: ${message}`);
  }
}

function withStage(stages: readonly Stage[], name: string): Data[] {
  const type = typeOf(name);
  const before = stages.findLastIndex((one) => one.type === 'open' || one.type === type) + 1;
  const kept = stages.map(({ id }) => ({ id }));
  return [...kept.slice(0, before), { name, type }, ...kept.slice(before)];
}

/** What the name says; deals in a stage called "Closed Lost" are not open. */
function typeOf(name: string): StageType {
  const words = name.toLowerCase().split(/[^\p{L}]+/u);
  return words.includes('won') ? 'won' : words.includes('lost') ? 'lost' : 'open';
}
