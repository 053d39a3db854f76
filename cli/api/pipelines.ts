// Pipelines and their stages by name, as people write them.

import type { Data } from '../../db/model/json.ts';
import { STAGE_TYPES, type StageType } from '../../db/model/resources/pipelines.ts';
import { clip } from '../../db/model/text.ts';

export interface Stage extends Data {
  id: string;
  name: string;
  type: string;
  probability: number | null;
  position: number;
}

export interface Pipeline extends Data {
  id: string;
  name: string;
  stages: Stage[];
}

/** What a name stands for, or why it stands for nothing. */
export type Named<T> = { found: T } | NotNamed;

/** Why a name stands for nothing. */
export interface NotNamed {
  code: 'RESOURCE_NOT_FOUND' | 'VALIDATION_FAILED';
  /** If there are choices, it ends where their names can follow. */
  message: string;
  /** The names that there are. */
  choices: readonly string[];
  /** The one that is probably meant if nothing else is known. */
  usual?: string | undefined;
}

/** The pipeline with this ID or this name, or the oldest one, which is the first. */
export function pipelineNamed(
  pipelines: readonly Pipeline[],
  { name, id }: { name?: string; id?: string },
): Named<Pipeline> {
  const [oldest] = pipelines;
  const text = id ?? name;
  if (text === undefined)
    return oldest === undefined ? missing('the organization does not have a pipeline') : { found: oldest };
  const [found, second] = pipelines.filter((one) =>
    id === undefined ? isSame(one.name, text) : one.id === id,
  );
  if (second !== undefined) return notCertain(`several pipelines are named "${clip(text.trim())}"`);
  if (found !== undefined) return { found };
  const names = pipelines.map((one) => one.name);
  return missing(`there is no pipeline "${clip(text.trim())}"; the pipelines are`, names, names[0]);
}

/** The stage with this name, or HubSpot's `Name (Pipeline)`; `Won` and `Lost` also match the only stage of this type. */
export function stageNamed(pipeline: Pipeline, text: string): Named<Stage> {
  const named = pipeline.stages.filter(
    ({ name }) => isSame(name, text) || isSame(`${name} (${pipeline.name})`, text),
  );
  const typed = pipeline.stages.filter(({ type }) => type !== 'open' && isSame(type, text));
  const [stage, second] = named.length > 0 ? named : typed.length === 1 ? typed : [];
  const place = `the pipeline "${pipeline.name}"`;
  if (second !== undefined) return notCertain(`${place} has two stages named "${clip(text.trim())}"`);
  if (stage !== undefined) return { found: stage };
  const names = pipeline.stages.map(({ name }) => name);
  const usual = pipeline.stages.find(({ type }) => type === 'open')?.name;
  return missing(`${place} does not have a stage "${clip(text.trim())}"; its stages are`, names, usual);
}

/** The type that a text names, such as `Won`. */
export function stageTypeNamed(text: string): StageType | undefined {
  return STAGE_TYPES.find((type) => isSame(type, text));
}

function isSame(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}

function missing(message: string, choices: readonly string[] = [], usual?: string): NotNamed {
  return { code: 'RESOURCE_NOT_FOUND', message, choices, usual };
}

function notCertain(message: string): NotNamed {
  return { code: 'VALIDATION_FAILED', message, choices: [] };
}
