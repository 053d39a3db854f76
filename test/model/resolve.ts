// From the picks that fast-check draws to the ids of the records that there are by then.
import type { Json } from '../support/harness.ts';
import { ABSENT, type Pick, present } from './bodies.ts';
import { buried } from './undeletes.ts';
import type { Actor, Data, LinkRow, World } from './world.ts';

/** Who sends a request, and what there is then. */
export interface Place {
  world: World;
  actor: Actor;
}

/** One id in so many names nothing. */
const ABSENT_EVERY = 17;
/** One in so many may be of a record that the actor does not see. */
const HIDDEN_EVERY = 3;

/** The id that a pick stands for: mostly of a record that the actor sees. */
export function resolve({ world, actor }: Place, { $of, pick }: Pick): string {
  const seen = pick % HIDDEN_EVERY === 0 ? [] : idsOf(world, $of, actor);
  const ids = seen.length > 0 ? seen : idsOf(world, $of);
  return pick % ABSENT_EVERY === 0 ? 'absent' : (ids[pick % Math.max(1, ids.length)] ?? 'absent');
}

/** The id that a pick stands for, mostly of a deleted record. */
export function resolveDeleted(place: Place, pick: Pick): string {
  const ids = buried(place.world, pick.$of);
  const id = pick.pick % ABSENT_EVERY === 0 ? undefined : ids[pick.pick % Math.max(1, ids.length)];
  return id ?? resolve(place, pick);
}

function idsOf(world: World, resource: string, actor?: Actor): string[] {
  if (resource === 'users') return world.users.filter((id) => (actor?.userId ?? id) === id);
  if (resource !== 'stages')
    return (actor === undefined ? world.records(resource) : world.seenBy(actor, resource)).map(
      ({ id }) => id,
    );
  return world.records('pipelines').flatMap(({ stages }) => stages.map((stage: Data) => stage.id));
}

/** A body with IDs instead of picks. @param current the pipeline whose stages a change keeps */
export function resolveBody(place: Place, body: Data, current?: Data): Data {
  const resolved: Data = {};
  for (const [name, value] of Object.entries(body)) {
    if (name === 'stages') resolved[name] = resolveStages(value, current);
    else if (Array.isArray(value))
      resolved[name] = value.map((one) => (isPick(one) ? resolve(place, one) : one));
    else if (!isPick(value)) resolved[name] = value;
    else if (value.$of === 'stages')
      resolved[name] = resolveStage(place, value, resolved.pipeline_id ?? current?.pipeline_id);
    else resolved[name] = resolve(place, value);
  }
  return present(resolved);
}

function isPick(value: Json): value is Pick {
  return typeof value === 'object' && value !== null && '$of' in value;
}

// Mostly a stage of the pipeline that the deal is in, or goes to, or starts in.
function resolveStage(place: Place, pick: Pick, pipelineId: unknown): string {
  const { world } = place;
  const pipeline = world.table('pipelines').get(String(pipelineId ?? world.records('pipelines')[0]?.id));
  if (pipeline === undefined || pick.pick % HIDDEN_EVERY === 0) return resolve(place, pick);
  return pipeline.stages[pick.pick % pipeline.stages.length].id;
}

function resolveStages(value: Json, current: Data | undefined): Json {
  if (Array.isArray(value)) return value.map((one) => keptStage(one, current));
  if (value === null || current === undefined) return value === null ? null : ABSENT;
  const { retype, type } = value;
  const at = retype % current.stages.length;
  return current.stages.map((stage: Data, index: number) => (index === at ? { ...stage, type } : stage));
}

function keptStage({ keep, ...stage }: Data, current: Data | undefined): Data {
  const stages = current?.stages ?? [];
  const id = keep === undefined ? undefined : stages[keep % Math.max(1, stages.length)]?.id;
  return id === undefined ? stage : { id, ...stage };
}

/** One of the links of a collection, mostly of a parent that the actor sees; undefined now and then. */
export function resolveLink({ world, actor }: Place, collection: string, pick: number): LinkRow | undefined {
  const all = world.links.filter((link) => link.collection === collection);
  const seen = all.filter((link) => world.find(actor, collection.split('/')[0] ?? '', link.parent));
  const links = pick % HIDDEN_EVERY === 0 || seen.length === 0 ? all : seen;
  return pick % ABSENT_EVERY === 0 ? undefined : links[pick % Math.max(1, links.length)];
}

/** The ID that a pick stands for, where it mostly is of a record that has an external ID. */
export function resolveNamed(place: Place, pick: Pick): string {
  const named = place.world.externalIds.filter(({ resource }) => resource === pick.$of);
  const row = named[pick.pick % Math.max(1, named.length)];
  return row === undefined || pick.pick % HIDDEN_EVERY === 0 ? resolve(place, pick) : row.record;
}
