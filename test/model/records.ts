// What creating, changing and deleting records does to the model's world, and what the answer must be.
import { BASE_URL, type Json } from '../support/harness.ts';
import { finishPipeline, moveDeals, pipelineFaults, placeDeal, stagesInUse } from './deals.ts';
import { blank, bodyFaults, clearedOf, fieldsOf, identityFaults } from './fields.ts';
import { logInteraction } from './interactions.ts';
import { normalized } from './values.ts';
import {
  type Actor,
  type Data,
  type Fault,
  FORBIDDEN,
  MISSING,
  type Outcome,
  OWNER,
  RESOURCES,
  refused,
  type World,
} from './world.ts';

/** What a create does. @param made the record that the service says it made, for the ids in it */
export function create(world: World, actor: Actor, resource: string, body: Data, made: Json): Outcome {
  if (resource === 'pipelines' && actor.userId !== null) return FORBIDDEN;
  const wrong = bodyFaults(resource, body, true);
  if (wrong.length > 0) return refused(wrong);
  const planned = planCreate(world, actor, resource, body, made);
  if ('status' in planned) return planned;
  return { status: 201, data: insert(world, actor, resource, planned.next, body, made) };
}

/** A new record without what only its writing sets, or why there can be none; an interaction is written. */
export function planCreate(
  world: World,
  actor: Actor,
  resource: string,
  body: Data,
  made: Json,
  wrong: Fault[] = [],
): { next: Data } | Outcome {
  if (givesAway(actor, resource, body, true)) return FORBIDDEN;
  const record = { ...blank(resource), ...merged(resource, {}, body) };
  const owner = OWNER[resource];
  if (actor.userId !== null && owner && owner !== 'created_by' && (body[owner] ?? null) === null)
    record[owner] = actor.userId;
  const faults = [...wrong, ...referenceFaults(world, actor, resource, body)];
  if (resource === 'notes' && faults.length === 0 && goesTooDeep(world, null, body.parent_id))
    faults.push({ path: 'parent_id', code: 'VALIDATION_OUT_OF_RANGE' });
  if (resource === 'interactions') return logInteraction(world, actor, record, body, faults, made);
  if (resource === 'deals') faults.push(...placeDeal(world, null, body, record, faults));
  if (faults.length > 0) return refused(faults);
  return conflictOf(world, actor, resource, null, body) ?? { next: record };
}

/** Writes a new record. @returns what is shown of it */
export function insert(
  world: World,
  actor: Actor,
  resource: string,
  record: Data,
  body: Data,
  made: Json,
): Data {
  const { timestamp } = world;
  Object.assign(record, { id: made?.id, created_by: actor.principal });
  Object.assign(record, { created_at: timestamp, updated_at: timestamp });
  if (resource === 'tasks') record.done_at = record.done ? timestamp : null;
  if (resource === 'pipelines') record.stages = finishPipeline(null, body.stages, made?.stages);
  world.table(resource).set(record.id, record);
  return world.show(actor, resource, record);
}

/** What a change does. @param made the record as the service then shows it, for the ids of new stages */
export function update(
  world: World,
  actor: Actor,
  resource: string,
  id: string,
  body: Data,
  made: Json,
): Outcome {
  if (resource === 'pipelines' && actor.userId !== null) return FORBIDDEN;
  const wrong = bodyFaults(resource, body, false);
  if (wrong.length > 0) return refused(wrong);
  const current = world.find(actor, resource, id);
  if (current === undefined) return MISSING;
  const planned = planChange(world, actor, resource, current, body);
  if ('status' in planned) return planned;
  return { status: 200, data: replace(world, actor, resource, planned.next, body, made) };
}

/** A record as a change leaves it, but for what only its writing sets; or why it cannot be changed so. */
export function planChange(
  world: World,
  actor: Actor,
  resource: string,
  current: Data,
  body: Data,
  wrong: Fault[] = [],
): { next: Data } | Outcome {
  const { id } = current;
  if (Object.keys(body).length === 0 && wrong.length === 0) return { next: current };
  if (givesAway(actor, resource, body, false)) return FORBIDDEN;
  const next = { ...current, ...merged(resource, current, body) };
  const sentAnew = Object.fromEntries(
    Object.entries(body).filter(([name, value]) => current[name] !== value),
  );
  const faults = [
    ...wrong,
    ...identityFaults(resource, next),
    ...referenceFaults(world, actor, resource, sentAnew),
  ];
  if (resource === 'notes' && isBelow(world, id, body.parent_id))
    faults.push({ path: 'parent_id', code: 'VALIDATION_FAILED' });
  else if (resource === 'notes' && faults.length === 0 && goesTooDeep(world, current, body.parent_id))
    faults.push({ path: 'parent_id', code: 'VALIDATION_OUT_OF_RANGE' });
  if (resource === 'deals') faults.push(...placeDeal(world, current, body, next, faults));
  if (resource === 'pipelines') faults.push(...pipelineFaults(current, body.stages));
  if (faults.length > 0) return refused(faults);
  const conflict =
    resource === 'pipelines' && body.stages !== undefined
      ? stagesInUse(world, current, body.stages)
      : conflictOf(world, actor, resource, id, body);
  return conflict ?? { next };
}

/** Writes a record that has changed. @returns what is shown of it */
export function replace(
  world: World,
  actor: Actor,
  resource: string,
  next: Data,
  body: Data,
  made: Json,
): Data {
  const current = world.table(resource).get(next.id) ?? {};
  if (resource === 'tasks' && next.done !== current.done) next.done_at = next.done ? world.timestamp : null;
  if (resource === 'pipelines' && body.stages !== undefined) {
    next.stages = finishPipeline(current.stages, body.stages, made?.stages);
    moveDeals(world, current.stages, next.stages);
  }
  // What changes no value changes nothing.
  if (!Bun.deepEquals(next, current)) next.updated_at = world.timestamp;
  world.table(resource).set(next.id, next);
  return world.show(actor, resource, next);
}

/** Why a record cannot be deleted; null if it can. */
export function refusalToRemove(world: World, actor: Actor, resource: string, id: string): Outcome | null {
  if (resource === 'pipelines' && actor.userId !== null) return FORBIDDEN;
  if (world.find(actor, resource, id) === undefined) return MISSING;
  if (resource === 'pipelines' && world.records('deals').some((deal) => deal.pipeline_id === id))
    return { status: 409, conflicts: [{ path: null, location: null }] };
  return null;
}

/** What a delete does: the record, the links and the references to it are gone. */
export function remove(world: World, actor: Actor, resource: string, id: string): Outcome {
  const refusal = refusalToRemove(world, actor, resource, id);
  if (refusal !== null) return refusal;
  world.table(resource).delete(id);
  world.links = world.links.filter((link) => link.parent !== id && link.child !== id);
  for (const link of world.links) if (link.supervisor === id) link.supervisor = null;
  world.externalIds = world.externalIds.filter((row) => row.record !== id);
  for (const other of RESOURCES) for (const one of world.records(other)) forget(world, one, id);
  return { status: 204 };
}

const REFERENCES = ['company_id', 'deal_id', 'person_id', 'parent_id', 'point_of_contact_id', 'main_contact'];

function forget(world: World, record: Data, id: string): void {
  for (const name of REFERENCES) {
    if (record[name] !== id) continue;
    record[name] = null;
    record.updated_at = world.timestamp;
  }
  for (const name of ['contact_ids', 'company_ids'])
    if (Array.isArray(record[name])) record[name] = record[name].filter((one: string) => one !== id);
}

// The fields of a body as a record keeps them.
function merged(resource: string, current: Data, body: Data): Data {
  const fields: Data = {};
  for (const [name, value] of Object.entries(body)) {
    const kind = fieldsOf(resource)[name];
    if (kind === undefined || name === 'main_contact_email' || name === 'stages') continue;
    if (value === null) fields[name] = clearedOf(kind);
    else if (kind === 'custom') {
      const all = Object.entries({ ...current.custom, ...value });
      fields[name] = Object.fromEntries(all.filter(([, one]) => one !== null));
    } else fields[name] = kind === 'domain' ? normalized(value) : value;
  }
  if (resource === 'contacts' && (fields.email !== undefined || fields.alt_emails !== undefined)) {
    const given = alternatives({ ...current, ...fields });
    const kept: string[] = current.alt_emails ?? [];
    // A set: in another order it is the same.
    fields.alt_emails = Bun.deepEquals([...given].sort(), [...kept].sort()) ? kept : given;
  }
  return fields;
}

// A set of addresses, whatever their case, without the primary one.
function alternatives({ email, alt_emails = [] }: Data): string[] {
  const seen = new Set([email?.toLowerCase()]);
  return alt_emails.filter((one: string) => !seen.has(one.toLowerCase()) && seen.add(one.toLowerCase()));
}

// An id in a body must be of a record that the actor sees, or of a user of the organization.
function referenceFaults(world: World, actor: Actor, resource: string, body: Data): Fault[] {
  return Object.entries(body).flatMap(([path, value]) => {
    const kind = fieldsOf(resource)[path];
    if (typeof kind === 'object' && 'listOf' in kind)
      return ((value ?? []) as string[]).flatMap((id, index) =>
        world.find(actor, kind.listOf, id) ? [] : [{ path: `${path}.${index}`, code: 'VALIDATION_FAILED' }],
      );
    if (typeof kind !== 'object' || !('refersTo' in kind) || value === null) return [];
    if (kind.refersTo === 'stages') return [];
    const isKnown =
      kind.refersTo === 'users'
        ? world.users.includes(value)
        : world.find(actor, kind.refersTo, value) !== undefined;
    return isKnown ? [] : [{ path, code: 'VALIDATION_FAILED' }];
  });
}

function givesAway(actor: Actor, resource: string, body: Data, isNew: boolean): boolean {
  const owner = body[OWNER[resource] ?? ''];
  if (actor.userId === null || owner === undefined || (isNew && owner === null)) return false;
  return owner !== actor.userId;
}

function isBelow(world: World, id: string, parent: unknown): boolean {
  for (let above = parent; typeof above === 'string'; above = world.table('notes').get(above)?.parent_id)
    if (above === id) return true;
  return false;
}

const NOTE_LEVELS = 100;

// Whether a note, with what stands below it, would stand deeper than notes may, and deeper than now.
function goesTooDeep(world: World, note: Data | null, parent: unknown): boolean {
  if (typeof parent !== 'string') return false;
  const notes = world.table('notes');
  const levelOf = (id: unknown): number =>
    typeof id === 'string' ? 1 + levelOf(notes.get(id)?.parent_id) : 0;
  const levelsBelow = (id: unknown): number =>
    Math.max(
      0,
      ...[...notes.values()].filter((one) => one.parent_id === id).map((one) => 1 + levelsBelow(one.id)),
    );
  if (levelOf(parent) >= NOTE_LEVELS) return true;
  if (note === null || levelOf(parent) <= levelOf(note.parent_id)) return false;
  return levelOf(parent) + 1 + levelsBelow(note.id) > NOTE_LEVELS;
}

/** Each address, and the domain, belongs to one record; any of several conflicts may be the one that is reported. */
export function conflictOf(
  world: World,
  actor: Actor,
  resource: string,
  id: string | null,
  body: Data,
): Outcome | null {
  const claims: [path: string, holder: Data | undefined][] = [];
  if (resource === 'contacts') {
    if (body.email) claims.push(['email', world.ownerOfEmail(body.email)]);
    for (const [index, email] of (body.alt_emails ?? []).entries())
      claims.push([`alt_emails.${index}`, world.ownerOfEmail(email)]);
  }
  if (resource === 'companies' && body.domain) {
    const domain = normalized(body.domain);
    claims.push(['domain', world.records('companies').find((company) => company.domain === domain)]);
  }
  const conflicts = claims.flatMap(([path, holder]) => {
    if (holder === undefined || holder.id === id) return [];
    const isSeen = world.sees(actor, resource, holder);
    return [{ path, location: isSeen ? `${BASE_URL}/api/v2/${resource}/${holder.id}` : null }];
  });
  return conflicts.length === 0 ? null : { status: 409, conflicts };
}
