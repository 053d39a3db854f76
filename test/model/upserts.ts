// Upserts in the model: which record a body finds, what is written to it, and what there must be to create one.
import { externalIdFaults, note, ownerOfExternalId, refusalToAttach } from './external-ids.ts';
import { givenFaults, missingFaults } from './fields.ts';
import { insert, planChange, planCreate, replace } from './records.ts';
import { normalized } from './values.ts';
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

/** What an upsert can find a record by, in the order that it has by itself. */
export const MATCHED_BY: Record<string, string[]> = {
  ...Object.fromEntries(
    ['pipelines', 'deals', 'tasks', 'notes', 'segments'].map((name) => [name, ['external_id']]),
  ),
  contacts: ['external_id', 'email'],
  companies: ['external_id', 'domain'],
};

/** What became of an upsert that is not refused. */
export interface Upserted {
  outcome: 'created' | 'updated' | 'unchanged';
  /** The record as shown, and what it was found by. */
  data: Data;
}

interface Place {
  world: World;
  actor: Actor;
  resource: string;
}

/** What an upsert does. @param made the record as the service then shows it, for the ids in it */
export function upsert(place: Place, body: Data, made: Data | undefined): Upserted | Outcome {
  const { actor, resource } = place;
  if (resource === 'pipelines' && actor.userId !== null) return FORBIDDEN;
  const { external_id, match, on_match = 'update', on_missing = 'create', ...fields } = body;
  const names = (match ?? MATCHED_BY[resource]).filter((name: string) => (body[name] ?? null) !== null);
  const faults = givenFaults(resource, fields, true);
  if ((external_id ?? null) !== null) faults.push(...externalIdFaults(external_id, 'external_id.'));
  if (names.length === 0) faults.push({ path: 'match', code: 'VALIDATION_REQUIRED_FIELD' });
  if (faults.length > 0) return refused(faults);
  const found = find(place, names, body);
  if (found === undefined)
    return on_missing === 'fail' ? MISSING : upsertNew(place, fields, external_id ?? null, made);
  const [by, record] = found;
  if (!place.world.sees(actor, resource, record))
    return on_missing === 'fail' ? MISSING : { status: 409, conflicts: [{ path: by, location: null }] };
  const written = { update: updating, fill: filling, keep: () => ({}) }[String(on_match)];
  return upsertKnown(
    place,
    { record, by },
    written?.(resource, { record, by }, fields) ?? {},
    external_id ?? null,
    made,
  );
}

/** The first record that one of the names finds. */
function find(
  { world, resource }: Place,
  names: string[],
  body: Data,
): [by: string, record: Data] | undefined {
  const finders: Record<string, (value: Data) => Data | undefined> = {
    external_id: ({ source, id }) => ownerOfExternalId(world, resource, { source, id }),
    email: (value) => world.ownerOfEmail(value),
    domain: (value) => world.records(resource).find(({ domain }) => domain === normalized(String(value))),
  };
  for (const name of names) {
    const record = finders[name]?.(body[name]);
    if (record !== undefined) return [name, record];
  }
  return undefined;
}

function upsertNew(
  place: Place,
  fields: Data,
  externalId: Data | null,
  made: Data | undefined,
): Upserted | Outcome {
  const { world, actor, resource } = place;
  const missing = missingFaults(resource, fields);
  const planned = planCreate(world, actor, resource, fields, made, missing);
  const refusal = both('status' in planned ? planned : null, toAttach(place, null, externalId));
  if (refusal !== null || 'status' in planned) return refusal ?? MISSING;
  const data = insert(world, actor, resource, planned.next, fields, made);
  if (externalId !== null) note(world, resource, data.id, externalId as never);
  return { outcome: 'created', data: { ...data, matched_by: null } };
}

interface Known {
  record: Data;
  by: string;
}

function upsertKnown(
  place: Place,
  { record, by }: Known,
  written: Data,
  externalId: Data | null,
  made: Data | undefined,
): Upserted | Outcome {
  const { world, actor, resource } = place;
  const { record_type, ...fields } = written;
  const isFixed = record_type !== undefined && record_type !== record.record_type;
  const wrong: Fault[] = isFixed ? [{ path: 'record_type', code: 'VALIDATION_FAILED' }] : [];
  const planned = planChange(world, actor, resource, record, fields, wrong);
  const refusal = both('status' in planned ? planned : null, toAttach(place, record.id, externalId));
  if (refusal !== null || 'status' in planned) return refusal ?? MISSING;
  const data = replace(world, actor, resource, planned.next, fields, made);
  const isChanged = !Bun.deepEquals(record, world.table(resource).get(record.id));
  const held = world.externalIds.length;
  if (externalId !== null) note(world, resource, record.id, externalId as never);
  const isAttached = world.externalIds.length > held;
  return { outcome: isChanged || isAttached ? 'updated' : 'unchanged', data: { ...data, matched_by: by } };
}

function toAttach(
  { world, actor, resource }: Place,
  record: string | null,
  externalId: Data | null,
): Outcome | null {
  if (externalId === null) return null;
  const paths = { source: 'external_id', id: 'external_id' };
  return refusalToAttach(world, actor, { resource, id: record }, externalId as never, paths);
}

// Of two conflicts either may be told; otherwise the fields are looked at first.
function both(one: Outcome | null, other: Outcome | null): Outcome | null {
  if (one?.status !== 409 || other?.status !== 409) return one ?? other;
  return { status: 409, conflicts: [...one.conflicts, ...other.conflicts] };
}

type Written = (resource: string, known: Known, fields: Data) => Data;

const updating: Written = (resource, known, fields) => {
  const kept = keepPrimary(known, fields);
  if (resource !== 'pipelines' || fields.stages === undefined) return kept;
  return { ...kept, stages: withIds(fields.stages, known.record.stages) };
};

// What the record lacks.
const filling: Written = (_, known, fields) => {
  const lacking: Data = {};
  for (const [name, value] of Object.entries(keepPrimary(known, fields))) {
    const has = known.record[name] ?? null;
    if (value === null) continue;
    if (has === null || (Array.isArray(has) && has.length === 0)) lacking[name] = value;
    else if (name === 'custom') {
      const entries = Object.entries(value).filter(([key, one]) => one !== null && has[key] === undefined);
      lacking.custom = Object.fromEntries(entries);
    }
  }
  return lacking;
};

// A contact that is found by an alternative address keeps it as that, and its primary address.
function keepPrimary({ record, by }: Known, fields: Data): Data {
  const { email, ...others } = fields;
  const is = (one: unknown) => String(one ?? '').toLowerCase() === String(email).toLowerCase();
  if (by !== 'email' || is(record.email)) return fields;
  if (others.alt_emails === undefined) return others;
  const given: string[] = others.alt_emails ?? [];
  return { ...others, alt_emails: given.some(is) ? given : [...given, email] };
}

// Stages keep their identity by their name, and by their order where as many as there are have it.
function withIds(stages: Data[], existing: Data[]): Data[] {
  return stages.map((stage) => {
    const same = existing.filter(({ name }) => name === stage.name);
    const alike = stages.filter(({ name }) => name === stage.name);
    const isKnown = same.length === 1 || same.length === alike.length;
    const id = isKnown ? same[alike.indexOf(stage)]?.id : undefined;
    return id === undefined ? stage : { id, ...stage };
  });
}
