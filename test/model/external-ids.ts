// External IDs in the model: which record has which, at most one of a source, and who is told whose they are.
import { BASE_URL, type Json } from '../support/harness.ts';
import {
  type Actor,
  type Data,
  type Fault,
  FORBIDDEN,
  MISSING,
  type Outcome,
  refused,
  type World,
} from './world.ts';

const SOURCES_MAX = 20;

/** An external ID as a body has it. */
export interface ExternalIdBody {
  source: string;
  id: string;
}

/** What adding one below a record does. */
export function attach(
  world: World,
  actor: Actor,
  { resource, id: record }: { resource: string; id: string },
  externalId: Data,
): Outcome {
  if (resource === 'pipelines' && actor.userId !== null) return FORBIDDEN;
  const faults = externalIdFaults(externalId);
  if (faults.length > 0) return refused(faults);
  if (world.find(actor, resource, record) === undefined) return MISSING;
  const { source, id } = externalId;
  const paths = { source: 'source', id: 'id' };
  const refusal = refusalToAttach(world, actor, { resource, id: record }, { source, id }, paths);
  if (refusal !== null) return refusal;
  return { status: 200, data: { source, id, created_at: note(world, resource, record, { source, id }) } };
}

/** What is wrong with an external ID in a body by itself. @param at the path that it stands at, with a full stop */
export function externalIdFaults(externalId: Data, at = ''): Fault[] {
  return ['source', 'id'].flatMap((name) => {
    const code = partCode(name, externalId[name]);
    return code === null ? [] : [{ path: at + name, code }];
  });
}

function partCode(name: string, value: Json): string | null {
  if (value === undefined) return 'VALIDATION_REQUIRED_FIELD';
  if (typeof value !== 'string') return 'VALIDATION_FAILED';
  if (name === 'id') return value.trim() === '' ? 'VALIDATION_REQUIRED_FIELD' : null;
  return value === value.toLowerCase() ? null : 'VALIDATION_INVALID_FORMAT';
}

/** Why a record cannot get an external ID; null if it can, or has it. */
export function refusalToAttach(
  world: World,
  actor: Actor,
  { resource, id: record }: { resource: string; id: string | null },
  { source, id }: ExternalIdBody,
  paths: { source: string; id: string },
): Outcome | null {
  const holder = ownerOfExternalId(world, resource, { source, id });
  if (holder !== undefined && holder.id !== record) {
    const location = world.sees(actor, resource, holder)
      ? `${BASE_URL}/api/v2/${resource}/${holder.id}`
      : null;
    return { status: 409, conflicts: [{ path: paths.id, location }] };
  }
  if (holder !== undefined) return null;
  const held = world.externalIds.filter((row) => row.record === record);
  if (held.some((row) => row.source === source))
    return { status: 409, conflicts: [{ path: paths.source, location: null }] };
  if (held.length >= SOURCES_MAX) return refused([{ path: paths.source, code: 'VALIDATION_OUT_OF_RANGE' }]);
  return null;
}

/** Gives a record an external ID that it can get. @returns since when it has it */
export function note(world: World, resource: string, record: string, { source, id }: ExternalIdBody): string {
  const known = world.externalIds.find((row) => row.record === record && row.source === source);
  if (known !== undefined) return known.createdAt;
  world.externalIds.push({ resource, record, source, id, createdAt: world.timestamp });
  return world.timestamp;
}

/** The record of a resource that has an external ID. */
export function ownerOfExternalId(
  world: World,
  resource: string,
  { source, id }: ExternalIdBody,
): Data | undefined {
  const row = world.externalIds.find(
    (one) => one.resource === resource && one.source === source && one.id === id,
  );
  return row && world.table(resource).get(row.record);
}

/** What removing the one of a source does. */
export function detach(
  world: World,
  actor: Actor,
  resource: string,
  record: string,
  source: string,
): Outcome {
  if (resource === 'pipelines' && actor.userId !== null) return FORBIDDEN;
  const kept = world.externalIds.filter((row) => row.record !== record || row.source !== source);
  if (world.find(actor, resource, record) === undefined || kept.length === world.externalIds.length)
    return MISSING;
  world.externalIds = kept;
  return { status: 204 };
}

/** What the list of a record's external IDs shows, newest first; undefined where the record is not there. */
export function listExternalIds(
  world: World,
  actor: Actor,
  resource: string,
  record: string,
): Data[] | undefined {
  if (world.find(actor, resource, record) === undefined) return undefined;
  return world.externalIds
    .filter((row) => row.record === record)
    .toSorted((a, b) =>
      a.createdAt === b.createdAt ? (a.source < b.source ? 1 : -1) : a.createdAt < b.createdAt ? 1 : -1,
    )
    .map(({ source, id, createdAt }) => ({ source, id, created_at: createdAt }));
}
